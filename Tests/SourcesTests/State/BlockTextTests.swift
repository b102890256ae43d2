// SPDX-License-Identifier: MIT
import Compression
import Foundation
import Testing

@testable import SourceStorage
@testable import SystemSupport

/// A file with some bytes in its middle.
private final class TextFile: Sendable {
    let path = NSTemporaryDirectory() + "text-" + UUID().uuidString
    let bytes: [UInt8]
    static let start = 100

    init(_ count: Int) throws {
        var generator = SystemRandomNumberGenerator()
        bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try Data([UInt8](repeating: 7, count: Self.start) + bytes + [9, 9]).write(
            to: URL(fileURLWithPath: path))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func text(_ cache: BlockCache, blockSize: Int = 4096) throws -> BlockText {
        let sums = bytes.withUnsafeBytes { BlockChecksum.list(of: $0, blockSize: blockSize) }
        return try #require(
            BlockText(
                try FileDescriptor(reading: path), path: path,
                range: Self.start..<Self.start + bytes.count, checksums: sums, blockSize: blockSize,
                cache: cache))
    }

    /// Overwrites a byte in place.
    func flip(_ place: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(Self.start + place))
        try file.write(contentsOf: [bytes[place] ^ 1])
        try file.close()
    }
}

private func read(_ text: BlockText, _ range: Range<Int>) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: range.count)
    return bytes.withUnsafeMutableBytes { text.read(range, into: $0) } ? bytes : nil
}

@Suite("Text that stays in a file")
struct BlockTextTests {
    @Test("reads what was written, whatever the cache has room for", arguments: [0, 1 << 17, 1 << 24])
    func reading(_ cacheBytes: Int) throws {
        let cache = BlockCache(bytes: cacheBytes)
        for (size, blockSize) in [(1, 4096), (4096, 4096), (300_001, 4096), (300_001, 65536)] {
            let file = try TextFile(size)
            let text = try file.text(cache, blockSize: blockSize)
            for _ in 0..<500 {
                let from = Int.random(in: 0...size)
                let range = from..<min(size, from + Int.random(in: 0...20_000))
                #expect(read(text, range) == Array(file.bytes[range]))
                #expect(cache.bytes <= cacheBytes)
            }
            #expect(text.verify(isCancelled: { false }, demand: { 0 }, pause: nil) && !text.isDamaged)
            #expect(text.isAtHand == (cacheBytes == 1 << 24) || size <= 1 << 17)
        }
        #expect(cache.bytes == 0, "texts that have gone leave nothing")
    }

    @Test("windows of whole blocks cover all of it")
    func windows() throws {
        let file = try TextFile(200_000)
        let text = try file.text(BlockCache(bytes: 0))
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 3 * 4096 + 1, alignment: 16)
        defer { window.deallocate() }
        var place = 0
        while place < text.count {
            let range = try #require(text.fill(window, from: place))
            #expect(range.contains(place) && window.prefix(range.count).elementsEqual(file.bytes[range]))
            place = range.upperBound
        }
        #expect(!text.isDamaged)
    }

    @Test("blocks in the page cache are cached without waiting, as many as there is room for")
    func pageCache() throws {
        let file = try TextFile(20_000)
        let probe = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { probe.deallocate() }
        guard try FileDescriptor(reading: file.path).readCached(probe, at: 0) else {
            print(
                "skipped: the file system of \(NSTemporaryDirectory()) cannot say what is in the page cache")
            return
        }
        let cache = BlockCache(bytes: 1 << 20)
        let text = try file.text(cache)
        var room = 2
        #expect(!text.isAtHand(0..<20_000, room: &room) && room == 0)
        #expect(text.isAtHand(10..<8192, room: &room), "two blocks are cached now")
        #expect(!text.isAtHand(8191..<8193, room: &room))
        #expect(read(text, 0..<8192) == Array(file.bytes[0..<8192]))
        room = 10
        #expect(text.isAtHand(0..<20_000, room: &room) && room == 7 && text.isAtHand)
        #expect(text.isAtHand(20_000..<20_000, room: &room))
        try file.flip(5000)
        let other = try file.text(cache)
        #expect(!other.isAtHand(4096..<5000, room: &room), "its checksum is wrong")
        #expect(!other.isDamaged, "the read that needs it reports that")
        #expect(read(other, 4096..<5000) == nil && other.isDamaged)
        let larger = try file.text(cache, blockSize: 8192)
        #expect(!larger.isAtHand(0..<10, room: &room), "checksums of larger blocks take too long")
    }

    @Test("changed bytes are not returned, and do not affect other blocks")
    func damage() throws {
        let file = try TextFile(40_000)
        let text = try file.text(BlockCache(bytes: 1 << 20))
        #expect(read(text, 0..<10) == Array(file.bytes[0..<10]))
        try file.flip(20_000)
        try file.flip(5)
        #expect(read(text, 8192..<9000) == Array(file.bytes[8192..<9000]) && !text.isDamaged)
        #expect(read(text, 0..<10) == Array(file.bytes[0..<10]), "what was read before is unharmed")
        #expect(read(text, 19_990..<20_001) == nil)
        #expect(text.isDamaged && text.failure == nil)
        #expect(!text.verify(isCancelled: { false }, demand: { 0 }, pause: nil))
    }

    @Test("the check of a whole text pauses while others read from the file, and ends although they go on")
    func givesWay() throws {
        // Two windows of a check.
        let text = try TextFile((1 << 20) + 5000).text(BlockCache(bytes: 0))
        var pauses = 0
        #expect(text.verify(isCancelled: { false }, demand: { 0 }, pause: { pauses += 1 }) && pauses == 0)
        let readsOnce = { read(text, 0..<10) == nil }
        #expect(text.verify(isCancelled: readsOnce, demand: { 0 }, pause: { pauses += 1 }) && pauses == 2)
        #expect(
            text.verify(
                isCancelled: readsOnce, demand: { 0 },
                pause: {
                    pauses += 1
                    _ = read(text, 5000..<5010)
                }))
        #expect(pauses == 22)
        // Other uses of the disk count as reads do.
        var uses = 0
        let usesOnce = {
            uses += 1
            return false
        }
        #expect(text.verify(isCancelled: usesOnce, demand: { uses }, pause: { pauses += 1 }) && pauses == 24)
    }

    @Test("a file that was cut short is an error of the machine")
    func truncation() throws {
        let file = try TextFile(40_000)
        let text = try file.text(BlockCache(bytes: 1 << 20))
        truncate(file.path, 12_000)
        #expect(read(text, 0..<100) != nil && !text.isDamaged)
        #expect(read(text, 30_000..<30_100) == nil && text.isDamaged)
        #expect(text.failure != nil)
    }

    @Test("several threads read at once while blocks make room for others")
    func concurrency() throws {
        let file = try TextFile(1 << 20)
        let text = try file.text(BlockCache(bytes: 1 << 17))
        Parallel(.shared, threads: 4).forEach(below: 8) { _ in
            for _ in 0..<2000 {
                let from = Int.random(in: 0..<(1 << 20) - 300)
                #expect(read(text, from..<from + 300) == Array(file.bytes[from..<from + 300]))
            }
        }
    }
}
