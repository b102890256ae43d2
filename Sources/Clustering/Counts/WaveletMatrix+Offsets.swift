// SPDX-License-Identifier: MIT

/// Questions about the values at single offsets, which go down the levels together, only as far as the answer needs.
extension WaveletMatrix {
    /// The offsets of a span whose values lie in a range, in no particular order.
    ///
    /// - Complexity: O(span), and O(log(count)) for each value that shares most of its bits with a bound of the range.
    func offsets(_ span: Span, in range: Range<Int>) -> [UInt32] {
        var found: [UInt32] = []
        guard span.count > 0 else { return found }
        let all = (span.start..<span.end).map { UInt32(truncatingIfNeeded: $0) }
        select(all, from: all, level: 0, first: 0, range, &found)
        return found
    }

    /// - Parameter origins: for each offset of the level, the one of the first level with the same value.
    private func select(
        _ offsets: [UInt32], from origins: [UInt32], level: Int, first: Int, _ range: Range<Int>,
        _ found: inout [UInt32]
    ) {
        let end = first + 1 << (levelCount - level)
        guard !offsets.isEmpty, first < range.upperBound, end > range.lowerBound else { return }
        if range.lowerBound <= first, end <= range.upperBound { return found += origins }
        var (zeros, ones, zeroOrigins, oneOrigins): ([UInt32], [UInt32], [UInt32], [UInt32]) = ([], [], [], [])
        for (offset, origin) in zip(offsets, origins) {
            let (next, isOne) = next(Int(offset), at: level)
            if isOne {
                ones.append(next)
                oneOrigins.append(origin)
            } else {
                zeros.append(next)
                zeroOrigins.append(origin)
            }
        }
        let half = 1 << (levelCount - level - 1)
        select(zeros, from: zeroOrigins, level: level + 1, first: first, range, &found)
        select(ones, from: oneOrigins, level: level + 1, first: first + half, range, &found)
    }

    /// Adds to the counts of `distribution(_:by:)` the values at some offsets.
    ///
    /// - Complexity: O(offsets × log(limits)), and O(log(count)) for each value that shares most of its bits with a limit.
    func distribute(_ offsets: [UInt32], by limits: [Int], into counts: inout [Int]) {
        distribute(offsets, level: 0, first: 0, limits[...], &counts)
    }

    private func distribute(
        _ offsets: [UInt32], level: Int, first: Int, _ limits: ArraySlice<Int>, _ counts: inout [Int]
    ) {
        guard !offsets.isEmpty else { return }
        let lower = limits.partitionIndex { $0 <= first }
        let upper = limits.partitionIndex { $0 < first + 1 << (levelCount - level) }
        guard lower < upper, level < levelCount else { return counts[lower] += offsets.count }
        let (zeros, ones) = split(offsets, at: level)
        let half = 1 << (levelCount - level - 1)
        distribute(zeros, level: level + 1, first: first, limits[lower..<upper], &counts)
        distribute(ones, level: level + 1, first: first + half, limits[lower..<upper], &counts)
    }

    /// The least or the greatest of the values at some offsets that is below a limit; nil if there is none.
    ///
    /// - Complexity: O(offsets), and O(log(count)) for those next to the answer or to the limit.
    func extreme(of offsets: [UInt32], below limit: Int, isGreatest: Bool, level: Int = 0, first: Int = 0) -> Int? {
        guard !offsets.isEmpty, first < limit else { return nil }
        guard level < levelCount else { return first }
        let (zeros, ones) = split(offsets, at: level)
        let lower = (zeros, first)
        let upper = (ones, first + 1 << (levelCount - level - 1))
        for (offsets, first) in isGreatest ? [upper, lower] : [lower, upper] {
            let found = extreme(of: offsets, below: limit, isGreatest: isGreatest, level: level + 1, first: first)
            if let found { return found }
        }
        return nil
    }

    private func split(_ offsets: [UInt32], at level: Int) -> (zeros: [UInt32], ones: [UInt32]) {
        var (zeros, ones): ([UInt32], [UInt32]) = ([], [])
        for offset in offsets {
            let (next, isOne) = next(Int(offset), at: level)
            if isOne { ones.append(next) } else { zeros.append(next) }
        }
        return (zeros, ones)
    }
}
