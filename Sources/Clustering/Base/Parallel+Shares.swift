// SPDX-License-Identifier: MIT
import SystemSupport

extension Parallel {
    func stopIfCancelled() throws(ClusteringError) {
        if isCancelled() { throw .cancelled }
    }

    /// Calls `body` with the number and the items of each share of `count` items, concurrently.
    @inline(__always) func forEachShare(
        of count: Int, _ body: (_ share: Int, _ items: Range<Int>) -> Void
    ) {
        let shares = shares(of: count)
        run(shares) { share in
            let (start, end) = Self.bounds(share, of: shares, count: count)
            body(share, start..<end)
        }
    }

    /// For each share of `count` items, the sum of the amounts of those before it, and the sum of all.
    @inline(__always) func sums(
        of count: Int, _ amount: (_ items: Range<Int>) -> Int
    ) -> (before: [Int], total: Int) {
        let shares = shares(of: count)
        var sums = map(shares) { share, _ in
            let (start, end) = Self.bounds(share, of: shares, count: count)
            return amount(start..<end)
        }
        let total = Self.accumulate(&sums)
        return (sums, total)
    }

    /// Sets the first `count` values of a scratch array.
    func fill<Value: BitwiseCopyable>(_ values: Scratch<Value>, count: Int, with value: Value) {
        let slice = values.slice
        forEachShare(of: count) { _, range in slice.from(range.lowerBound).fill(range.count, with: value) }
    }
}
