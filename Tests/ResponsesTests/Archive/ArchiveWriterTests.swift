// SPDX-License-Identifier: MIT
import Foundation
import SourceTestSupport
import Testing

@testable import Responses
@testable import SystemSupport

@Suite("Writing archives") struct ArchiveWriterTests {
    /// Writes tiles into a file and reads it back.
    private static func archive(
        _ tiles: [(id: UInt64, content: [UInt8])], _ cancellation: Cancellation = .never
    ) throws -> ArchiveReader {
        let folder = NSTemporaryDirectory() + "clusterd-writer-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let target = try ExportDirectories([folder]).target("t", overwrite: false)
        let writer = try ArchiveWriter(for: target)
        for tile in tiles {
            try writer.append(tile.content[...], id: tile.id, hash: tile.content.hashValue)
        }
        try writer.finish(metadata: Array("{}".utf8), cancellation) { _ in }
        try writer.publish(as: "t", overwrite: false)
        return ArchiveReader(bytes: Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/t"))))
    }

    @Test("stores equal tiles once, and neighbours that are equal in one entry") func repeats() throws {
        let (land, sea) = ([UInt8](repeating: 1, count: 90), [UInt8](repeating: 2, count: 80))
        let archive = try Self.archive([(5, sea), (6, sea), (7, sea), (9, land), (10, sea), (12, land), (13, land)])
        #expect(archive.addressedTiles == 7)
        #expect(archive.tileEntries == 4)
        #expect(archive.tileContents == 2)
        #expect(archive.tilesRange.count == 170)
        #expect(try archive.tiles().map(\.id) == [5, 6, 7, 9, 10, 12, 13])
        #expect(try archive.tiles().map { $0.content.count } == [80, 80, 80, 90, 80, 90, 90])
    }

    @Test("finds repeated tiles that were written long before", arguments: [1 << 20, 3 << 20])
    func farRepeats(_ between: Int) throws {
        let tile = [UInt8](repeating: 7, count: 1000)
        let filler = (0..<between / 1000).map { index in
            (id: UInt64(index + 1), content: (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* index) })
        }
        let archive = try Self.archive([(0, tile)] + filler + [(UInt64(filler.count + 1), tile)])
        let tiles = try archive.tiles()
        #expect(tiles.first?.content.startIndex == tiles.last?.content.startIndex)
        #expect(tiles.last.map { Array($0.content) } == tile)
    }

    @Test("keeps the root directory within the first 16 KiB", arguments: [10, 3000, 20_000, 60_000])
    func directories(_ count: Int) throws {
        let tiles = (0..<count).map { index in
            (id: UInt64(index * 3), content: withUnsafeBytes(of: index * 2_654_435_761) { Array($0) })
        }
        let archive = try Self.archive(tiles)
        #expect(archive.rootRange.upperBound <= 16_384)
        #expect(archive.rootRange.lowerBound == 127)
        #expect((archive.leavesLength == 0) == (count < 5000))
        #expect(archive.tilesRange.lowerBound == 16_384)
        let found = try archive.tiles()
        #expect(found.map(\.id) == tiles.map(\.id))
        #expect(zip(found, tiles).allSatisfy { Array($0.content) == $1.content })
    }

    @Test("finishing one asks before each directory whether it is cancelled, and then stops")
    func cancellation() throws {
        let tiles = (0..<30_000).map { index in
            (id: UInt64(index * 3), content: withUnsafeBytes(of: index * 2_654_435_761) { Array($0) })
        }
        func finish(after looks: Int) throws -> Int {
            let asked = OutcomeCounts()
            let cancellation = Cancellation {
                asked.count(true)
                return asked.counts.yes > looks
            }
            do { _ = try Self.archive(tiles, cancellation) } catch ArchiveError.cancelled {}
            return asked.counts.yes
        }
        // Leaf directories of 4096 entries, the root directory and the metadata.
        let all = try finish(after: .max)
        #expect(all >= 30_000 / 4096 + 2)
        for looks in 0..<all { #expect(try finish(after: looks) == looks + 1) }
    }
}
