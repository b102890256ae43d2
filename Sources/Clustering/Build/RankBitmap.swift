// SPDX-License-Identifier: MIT
import Synchronization

/// A bitmap with rank queries: which orders belong to living nodes, and how many of these come before an order.
/// That count is the node's index in supercluster's list of the level, so the list itself is not needed.
///
/// Several threads may remove orders while others query; queries see the level unchanged until `settle`.
final class RankBitmap {
    private var words: Scratch<UInt64>
    /// The words after the removals since `recount`.
    private var left: Scratch<UInt64>
    private let before: Scratch<UInt32>
    /// The greatest order plus one.
    private(set) var limit: Int

    init(count: Int) {
        limit = count
        let wordCount = (count + 63) / 64
        words = Scratch(capacity: wordCount + 1)
        left = Scratch(capacity: wordCount + 1)
        before = Scratch(capacity: wordCount + 1)
        reset(count: count)
    }

    /// Makes the orders 0..<count alive. `count` must not exceed the initial count.
    func reset(count: Int) {
        limit = count
        let whole = count / 64
        words.base.update(repeating: .max, count: whole)
        words.base[whole] = (UInt64(1) &<< UInt64(count % 64)) &- 1
        recount()
    }

    /// Removes an order, with effect from the next `settle`. Safe from several threads.
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

    /// The number of living orders before `order` at the last `recount`.
    func index(of order: UInt32) -> UInt32 {
        let word = Int(order >> 6)
        let mask = (UInt64(1) &<< UInt64(order & 63)) &- 1
        return before.base[word] &+ UInt32(truncatingIfNeeded: (words.base[word] & mask).nonzeroBitCount)
    }

    /// Calls `body` with each living order, in ascending order.
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
