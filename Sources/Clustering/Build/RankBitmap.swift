// SPDX-License-Identifier: MIT
import Synchronization

/// A bitmap with rank queries: which orders belong to living nodes, and how many come before each. That is a node's index in
/// supercluster's list of its level, without the list.
///
/// Orders are removed by several threads beside queries, which see the level unchanged until `settle`.
final class RankBitmap {
    private var words: Scratch<UInt64>
    /// The words without what was removed since `recount`.
    private var left: Scratch<UInt64>
    private let before: Scratch<UInt32>
    /// One more than the greatest order.
    private(set) var limit: Int

    init(count: Int) {
        limit = count
        let wordCount = (count + 63) / 64
        words = Scratch(capacity: wordCount + 1)
        left = Scratch(capacity: wordCount + 1)
        before = Scratch(capacity: wordCount + 1)
        reset(count: count)
    }

    /// Makes 0..<count alive. `count` is never more than at first.
    func reset(count: Int) {
        limit = count
        let whole = count / 64
        words.base.update(repeating: .max, count: whole)
        words.base[whole] = (UInt64(1) &<< UInt64(count % 64)) &- 1
        recount()
    }

    /// Removes an order at the next `settle`. Safe from several threads.
    @inline(__always) func remove(_ order: UInt32) {
        let kept = ~(UInt64(1) &<< UInt64(order & 63))
        left.atomic(Int(order >> 6)).pointee.bitwiseAnd(kept, ordering: .relaxed)
    }

    /// Makes the removals since `recount` visible.
    func settle() { swap(&words, &left) }

    /// Brings `index(of:)` up to date. O(limit / 64).
    func recount() {
        var sum: UInt32 = 0
        for word in 0...(limit / 64) {
            before.base[word] = sum
            sum &+= UInt32(truncatingIfNeeded: words.base[word].nonzeroBitCount)
        }
        left.base.update(from: words.base, count: limit / 64 + 1)
    }

    /// How many living orders were before `order` when last counted.
    func index(of order: UInt32) -> UInt32 {
        let word = Int(order >> 6)
        let mask = (UInt64(1) &<< UInt64(order & 63)) &- 1
        return before.base[word] &+ UInt32(truncatingIfNeeded: (words.base[word] & mask).nonzeroBitCount)
    }

    /// Calls `body` with each living order, ascending.
    func forEach(_ body: (UInt32) -> Void) {
        for word in 0...(limit / 64) {
            var bits = words.base[word]
            while bits != 0 {
                body(UInt32(truncatingIfNeeded: word << 6 | bits.trailingZeroBitCount))
                bits &= bits &- 1
            }
        }
    }
}
