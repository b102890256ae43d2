// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Kept blocks", .disabled(if: Sanitizer.isActive, "a sanitizer's allocator rounds sizes in its own way"))
struct KeptBlocksTests {
    private static let page = 2 << 20

    private func block(_ pages: Int) throws -> UnsafeMutableRawPointer {
        var block: UnsafeMutableRawPointer?
        try #require(posix_memalign(&block, Self.page, pages * Self.page) == 0)
        return try #require(block)
    }

    @Test("the smallest block is taken that is large enough, but none much larger") func sizes() throws {
        let kept = KeptBlocks(mostBytes: 128 << 20, patience: .seconds(3600))
        let (large, middle, small) = (try block(20), try block(10), try block(5))
        for block in [large, middle, small] { #expect(kept.give(block)) }
        #expect(kept.take(23 * Self.page) == nil, "no block is as large")
        let taken = try #require(kept.take(9 * Self.page))
        defer { free(taken) }
        #expect(taken == middle, "the large block would do, too")
        #expect(kept.take(9 * Self.page) == nil, "the large block is much larger")
        // The allocator leaves up to a page behind each.
        #expect((25...27).contains(kept.bytes / Self.page), "\(kept.bytes)")
    }

    @Test("small blocks, others that are not on large pages, and those for which there is no room, are not kept")
    func bounds() throws {
        let kept = KeptBlocks(mostBytes: 7 * Self.page, patience: .seconds(3600))
        let small = try #require(malloc(100))
        defer { free(small) }
        #expect(!kept.give(small))
        let (first, second) = (try block(4), try block(4))
        defer { free(second) }
        #expect(!kept.give(first + 64))
        #expect(kept.give(first))
        #expect(!kept.give(second), "there is room for one of them")
        let none = KeptBlocks()
        #expect(!none.give(second), "nothing may be kept")
    }

    @Test("blocks that were kept before a moment are returned, and all of them at once if asked") func release() throws
    {
        let kept = KeptBlocks(mostBytes: 64 << 20, patience: .seconds(3600))
        #expect(kept.give(try block(1)))
        let moment = ContinuousClock.now
        #expect(kept.give(try block(3)))
        kept.release(keptBefore: moment)
        #expect(kept.take(Self.page) == nil)
        #expect(kept.release())
        #expect(kept.bytes == 0)
        #expect(!kept.release(), "nothing is left")
    }

    @Test("what nothing takes is returned after a while") func expiry() async throws {
        let kept = KeptBlocks(mostBytes: 64 << 20, patience: .milliseconds(1))
        #expect(kept.give(try block(2)))
        while kept.bytes > 0 { await Task.yield() }
        // Also what is kept after that.
        #expect(kept.give(try block(2)))
        while kept.bytes > 0 { await Task.yield() }
    }
}
