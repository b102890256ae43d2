// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Large pages") struct LargePagesTests {
    private static let large = 2 << 20

    @Test(
        "blocks can be written as a whole, and large ones begin at a page's boundary",
        arguments: [1, 4096, (2 << 20) - 1000, 3 << 20, 4_000_000, 4 << 20, 9 << 20])
    func allocate(_ size: Int) {
        let block = LargePages.allocate(size)
        defer { free(block) }
        memset(block, 7, size)
        #expect(block.load(fromByteOffset: size - 1, as: UInt8.self) == 7)
        if size > Self.large - 4096 { #expect(Int(bitPattern: block) % Self.large == 0) }
    }

    @Test("blocks keep their content when they grow and shrink") func resize() {
        var block = LargePages.resize(nil, to: 100)
        memset(block, 3, 100)
        for size in [5000, 3 << 20, 11 << 20, 6 << 20, 200] {
            block = LargePages.resize(block, to: size)
            let bytes = UnsafeRawBufferPointer(start: block, count: 100)
            #expect(bytes.allSatisfy { $0 == 3 }, "\(size)")
            memset(block + 100, 9, size - 100)
        }
        free(block)
    }

    @Test(
        "what is left of a block serves the next allocation of that size",
        .disabled(if: Sanitizer.isActive, "a sanitizer's allocator rounds sizes in its own way"),
        arguments: [5 << 20, (9 << 20) - 12, (9 << 20) + 4, 19_000_000])
    func shrink(_ size: Int) throws {
        var block = LargePages.allocate(24 << 20)
        memset(block, 5, size)
        let room: Int
        (block, room) = LargePages.shrink(block, to: size)
        #expect(UnsafeRawBufferPointer(start: block, count: size).allSatisfy { $0 == 5 })
        #expect(room == LargePages.roomOnLargePages(size))
        #expect(LargePages.shrink(block, to: size) == (block, room), "nothing is left to return")
        let kept = KeptBlocks(mostBytes: 64 << 20, patience: .seconds(3600))
        try #require(kept.give(block))
        #expect(kept.bytes < size + 2 * Self.large, "the rest was not returned")
        let taken = try #require(kept.take(LargePages.roomOnLargePages(size)), "the block is too small")
        free(taken)
    }

    @Test("of a block that is on no large pages, nothing more than asked for is left") func shrinkOthers() {
        let block = LargePages.resize(nil, to: 24 << 20)
        memset(block, 5, 9_000_000)
        let (shrunk, room) = LargePages.shrink(block, to: 9_000_000)
        defer { free(shrunk) }
        let isOnLargePages = Int(bitPattern: shrunk) % Self.large == 0
        #expect(room == 9_000_000 || isOnLargePages)
        #expect(UnsafeRawBufferPointer(start: shrunk, count: 9_000_000).allSatisfy { $0 == 5 })
    }

    /// What the system moves without copying is one mapping; else a block is held twice while it grows.
    @Test(
        "large blocks are one mapping each",
        .disabled(if: Sanitizer.isActive, "a sanitizer's allocator maps blocks in its own way"),
        arguments: [64 << 20, (64 << 20) - 16, 100_000_001])
    func mapping(_ size: Int) throws {
        // As in the daemon. Else the block may lie in a heap that other tests of this process have left large.
        Allocator.giveBackBlocks(from: 1 << 20)
        Allocator.trim()
        var block = LargePages.resize(nil, to: 4096)
        defer { free(block) }
        for size in [size / 2, size] {
            block = LargePages.resize(block, to: size)
            let start = UInt(bitPattern: block)
            #expect(try #require(Self.mapping(at: start)).upperBound >= start + UInt(size))
        }
    }

    /// The process's mapping that contains an address, as the system lists it.
    private static func mapping(at address: UInt) -> Range<UInt>? {
        ProcessMaps.lines().lazy.compactMap { line -> Range<UInt>? in
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            return ends.count == 2 ? ends[0]..<ends[1] : nil
        }.first { $0.contains(address) }
    }

    @Test("advice changes no memory", arguments: [0, 1, 2 << 20, 7 << 20]) func advice(_ size: Int) {
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
            LargePages.advise(room)
            for place in 0..<size { room.initializeElement(at: place, to: UInt8(truncatingIfNeeded: place)) }
            count = size
        }
        #expect(bytes.count == size)
        #expect((size == 0 || bytes[size - 1] == UInt8(truncatingIfNeeded: size - 1)))
    }
}
