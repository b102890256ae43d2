// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("Blocks in files") struct FileBlocksTests {
    private let directory = NSTemporaryDirectory()

    @Test("a block keeps its content when it grows, shrinks and moves, and leaves no file")
    func content() throws {
        let folder = directory + "clusterd-blocks-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let blocks = FileBlocks(directory: folder, leastBytes: 4096)
        var block = try #require(blocks.allocate(10_000))
        for offset in 0..<10_000 {
            block.storeBytes(of: UInt8(truncatingIfNeeded: offset * 7), toByteOffset: offset, as: UInt8.self)
        }
        for size in [3_000_000, 20_000, 5000] {
            block = try #require(blocks.resize(block, to: size))
            for offset in 0..<min(size, 10_000) {
                let value = block.load(fromByteOffset: offset, as: UInt8.self)
                guard value == UInt8(truncatingIfNeeded: offset * 7) else {
                    Issue.record("byte \(offset) is \(value) at \(size) bytes")
                    return
                }
            }
        }
        #expect(blocks.count == 1)
        #expect(blocks.release(block) && blocks.count == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test("a block of memory becomes one of a file when it grows large enough, and small ones stay")
    func growth() throws {
        let blocks = FileBlocks(directory: directory, leastBytes: 4096)
        #expect(blocks.allocate(4095) == nil)
        let small = try #require(malloc(100))
        memset(small, 5, 100)
        #expect(blocks.resize(small, to: 200) == nil && !blocks.release(small))
        let large = try #require(blocks.resize(small, to: 50_000))
        #expect((0..<100).allSatisfy { large.load(fromByteOffset: $0, as: UInt8.self) == 5 })
        #expect(blocks.count == 1 && blocks.release(large))
    }

    @Test("a block's room on the disk is taken when it is allocated, so that writing it cannot fail")
    func room() throws {
        let folder = directory + "clusterd-blocks-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let blocks = FileBlocks(directory: folder, leastBytes: 4096)
        let block = try #require(blocks.allocate(1 << 20))
        #expect(blocks.roomOnDisk >= 1 << 20, "\(blocks.roomOnDisk) bytes")
        let larger = try #require(blocks.resize(block, to: 3 << 20))
        #expect(blocks.roomOnDisk >= 3 << 20, "\(blocks.roomOnDisk) bytes")
        #expect(blocks.release(larger) && blocks.roomOnDisk == 0)
    }

    @Test("the pages of a large array lie in a file, and go with the array") func arrays() throws {
        let folder = directory + "clusterd-blocks-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let blocks = FileBlocks(directory: folder, leastBytes: 1 << 20)
        var (isInFile, isSmallInFile) = (false, true)
        do {
            // Larger than what the allocator may have left of other blocks.
            let count = 96 << 20
            var array = [UInt8](unsafeUninitializedCapacity: count) { memory, written in
                isInFile = blocks.back(UnsafeMutableRawBufferPointer(memory))
                memory.update(repeating: 7)
                written = count
            }
            array[0] = 1
            array[count - 1] = 2
            #expect([0, 1, 5000, count / 2, count - 1].map { array[$0] } == [1, 7, 7, 7, 2])
            // Unnamed files are in the list of mappings by the directory that they are in.
            #expect(try Self.mappings().contains(folder), "no page is in a file")
        }
        #expect(isInFile)
        #expect(try !Self.mappings().contains(folder), "the file is left")
        _ = [Int](unsafeUninitializedCapacity: 1000) { memory, _ in
            isSmallInFile = blocks.back(UnsafeMutableRawBufferPointer(memory))
        }
        #expect(!isSmallInFile)
    }

    private static func mappings() throws -> String {
        try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    }

    @Test("blocks without a directory lie in memory")
    func noDirectory() { #expect(FileBlocks(leastBytes: 4096).allocate(1 << 20) == nil) }
}
