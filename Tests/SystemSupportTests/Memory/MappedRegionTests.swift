// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("Mapped regions")
struct MappedRegionTests {
    private final class Folder {
        let path = NSTemporaryDirectory() + "clusterd-mapped-" + UUID().uuidString

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func file() throws -> UnnamedFile {
            try UnnamedFile(in: FileIO.open(path, O_RDONLY | O_DIRECTORY), path: path)
        }
    }

    /// A region of some pieces of random sizes, and what they are.
    private static func region(
        _ make: ([UnsafeRawBufferPointer]) throws -> MappedRegion
    ) throws -> (region: MappedRegion, contents: [[UInt8]]) {
        let contents = [5, 0, 64, 100_000, 4096, 1].map { size in
            (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 + size) }
        }
        let joined = contents.flatMap { $0 }
        let region = try joined.withUnsafeBytes { bytes in
            var start = 0
            return try make(
                contents.map { piece in
                    defer { start += piece.count }
                    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + piece.count])
                })
        }
        return (region, contents)
    }

    @Test("contain the given bytes, aligned, in a file without a name")
    func contents() throws {
        let folder = try Folder()
        let (region, contents) = try Self.region { try MappedRegion($0, in: folder.path) }
        #expect(region.pieces.map { Array($0) } == contents)
        #expect(region.pieces.allSatisfy { $0.isEmpty || Int(bitPattern: $0.baseAddress) % 64 == 0 })
        #expect(region.byteCount == contents.reduce(0) { $0 + $1.count })
        #expect(!region.hasFailed)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("a page that cannot be read turns its region to zeros, and no other")
    func lostPages() throws {
        let folder = try Folder()
        let (file, other) = (try folder.file(), try folder.file())
        let (region, contents) = try Self.region { try MappedRegion($0, to: file) }
        let (beside, _) = try Self.region { try MappedRegion($0, to: other) }
        // The first page is still there.
        try file.truncate(to: 4096)
        #expect(Array(region.pieces[0]) == contents[0])
        #expect(!region.hasFailed)
        #expect(region.pieces[3].last == 0)
        #expect(region.hasFailed)
        #expect(!beside.hasFailed)
        #expect(region.pieces.allSatisfy { $0.allSatisfy { $0 == 0 } })
        #expect(beside.pieces.map { Array($0) } == contents)
    }

    @Test("threads that read lost pages at the same time all continue")
    func manyThreads() throws {
        let folder = try Folder()
        for _ in 0..<20 {
            // Only the thread of one place uses it.
            nonisolated(unsafe) let file = try folder.file()
            let (region, contents) = try Self.region { try MappedRegion($0, to: file) }
            Parallel(.shared, threads: 4).forEach(below: 8) { place in
                if place == 4 { try? file.truncate(to: 0) }
                let sum = region.pieces[3].reduce(0) { $0 + Int($1) }
                // What is read is right, or the region says that it is not.
                #expect(sum == contents[3].reduce(0) { $0 + Int($1) } || region.hasFailed)
            }
        }
    }

    @Test("a region's number is reused after it is released")
    func manyRegions() throws {
        let folder = try Folder()
        for _ in 0..<4200 {
            let region = try [UInt8](1...9).withUnsafeBytes { try MappedRegion([$0], in: folder.path) }
            #expect(!region.hasFailed && region.pieces[0].last == 9)
        }
    }

    @Test("a disk without room is an error")
    func fullDisk() throws {
        let file = try Folder().file()
        let error = #expect(throws: FileError.self) { try file.allocate(1 << 61) }
        #expect(error?.isOutOfSpace == true, "\(String(describing: error))")
    }
}
