// SPDX-License-Identifier: MIT
import CPrefetch

/// A bitmap with rank queries: which orders belong to living nodes, and how many of these come before an order.
/// That count is the node's index in supercluster's list of the level, so the list itself is not needed.
///
/// Several threads may remove orders while others query; queries see the level unchanged until `settle`. Each worker
/// records its removals in words of its own, because shared words would move between the processors' caches.
final class RankBitmap {
    private let words: Scratch<UInt64>
    /// By worker, `stride` words each: the orders removed since `settle`.
    private let removed: Scratch<UInt64>
    private let workers: Int
    private let stride: Int
    private let before: Scratch<UInt32>
    /// The greatest order plus one.
    private(set) var limit: Int

    init(count: Int, workers: Int) {
        limit = count
        self.workers = workers
        stride = (count + 63) / 64 + 1
        words = Scratch(capacity: stride)
        removed = Scratch(repeating: 0, count: stride * workers)
        before = Scratch(capacity: stride)
        reset(count: count)
    }

    /// A bitmap without living orders, to which `insert` adds some below a count, before `recount`.
    init(empty count: Int) {
        limit = count
        workers = 0
        stride = (count + 63) / 64 + 1
        words = Scratch(repeating: 0, count: stride)
        removed = Scratch(capacity: 1)
        before = Scratch(capacity: stride)
    }

    func insert(_ order: UInt32) { words.base[Int(order >> 6)] |= UInt64(1) &<< UInt64(order & 63) }

    /// Makes the orders 0..<count alive. `count` must not exceed the initial count.
    func reset(count: Int) {
        limit = count
        let whole = count / 64
        words.base.update(repeating: .max, count: whole)
        words.base[whole] = (UInt64(1) &<< UInt64(count % 64)) &- 1
        recount()
    }

    /// Removes orders on behalf of one worker, with effect from the next `settle`.
    @inline(__always) func remover(_ worker: Int) -> Remover {
        Remover(words: removed.base + worker * stride)
    }

    struct Remover {
        fileprivate let words: UnsafeMutablePointer<UInt64>

        @inline(__always) func remove(_ order: UInt32) {
            words[Int(order >> 6)] |= UInt64(1) &<< UInt64(order & 63)
        }

        /// Fetches memory that `remove` will need.
        @inline(__always) func fetch(_ order: UInt32) { clusterd_prefetch(words + Int(order >> 6)) }
    }

    /// Makes the removals visible. O(limit / 64 × workers).
    func settle() {
        let (words, count) = (words.base, limit / 64 + 1)
        for worker in 0..<workers {
            let removed = removed.base + worker * stride
            for word in 0..<count {
                words[word] &= ~removed[word]
                removed[word] = 0
            }
        }
    }

    /// Brings `index(of:)` up to date. O(limit / 64).
    func recount() {
        var sum: UInt32 = 0
        for word in 0...(limit / 64) {
            before.base[word] = sum
            sum &+= UInt32(truncatingIfNeeded: words.base[word].nonzeroBitCount)
        }
    }

    /// The number of living orders before `order` at the last `recount`.
    func index(of order: UInt32) -> UInt32 {
        let word = Int(order >> 6)
        let mask = (UInt64(1) &<< UInt64(order & 63)) &- 1
        return before.base[word] &+ UInt32(truncatingIfNeeded: (words.base[word] & mask).nonzeroBitCount)
    }

    /// Fetches memory that `index(of:)` will need.
    @inline(__always) func fetch(_ order: UInt32) {
        clusterd_prefetch(words.base + Int(order >> 6))
        clusterd_prefetch(before.base + Int(order >> 6))
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
