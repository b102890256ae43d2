// SPDX-License-Identifier: MIT

/// Questions about several spans of offsets at once. A span is dropped where it has none of the values in question.
extension WaveletMatrix {
    /// The spans of a level that have values, split by the next bit.
    private func split(_ spans: [Span], at level: Int) -> (zeros: [Span], ones: [Span]) {
        var (zeros, ones): ([Span], [Span]) = ([], [])
        for span in spans {
            let (zero, one) = split(span, at: level)
            if zero.count > 0 { zeros.append(zero) }
            if one.count > 0 { ones.append(one) }
        }
        return (zeros, ones)
    }

    /// Calls `body` with the values of spans within a range, from the greatest (or the least), until it returns false.
    ///
    /// - Complexity: O((spans + values) × log(count)).
    func visit(_ spans: [Span], in range: Range<Int>, ascending: Bool = false, _ body: (Int) -> Bool) {
        guard !spans.isEmpty, !range.isEmpty else { return }
        _ = visit(spans, level: 0, first: 0, range, ascending, body)
    }

    private func visit(
        _ spans: [Span], level: Int, first: Int, _ range: Range<Int>, _ ascending: Bool, _ body: (Int) -> Bool
    ) -> Bool {
        let size = 1 << (levelCount - level)
        guard !spans.isEmpty, first < range.upperBound, first + size > range.lowerBound else { return true }
        guard level < levelCount else { return body(first) }
        let (zeros, ones) = split(spans, at: level)
        let (lower, upper) = ((zeros, first), (ones, first + size / 2))
        for (spans, first) in ascending ? [lower, upper] : [upper, lower] {
            guard visit(spans, level: level + 1, first: first, range, ascending, body) else { return false }
        }
        return true
    }

    /// Counts the values of spans between limits.
    ///
    /// - Parameter limits: ascending, from 0 to `count`.
    /// - Returns: for each limit and the next, the number of values from the one to below the other; before them the
    ///   number below the first, after them the number from the last.
    /// - Complexity: O(spans × limits × log(count)); less for limits and spans that lie together.
    func distribution(_ spans: [Span], by limits: [Int]) -> [Int] {
        var counts = [Int](repeating: 0, count: limits.count + 1)
        distribute(spans, level: 0, first: 0, limits[...], &counts)
        return counts
    }

    private func distribute(
        _ spans: [Span], level: Int, first: Int, _ limits: ArraySlice<Int>, _ counts: inout [Int]
    ) {
        guard !spans.isEmpty else { return }
        let end = first + 1 << (levelCount - level)
        // Limits that all or none of these values reach do not divide them.
        let lower = limits.partitionIndex { $0 <= first }
        let upper = limits.partitionIndex { $0 < end }
        guard lower < upper, level < levelCount else {
            counts[lower] += spans.reduce(0) { $0 + $1.count }
            return
        }
        let (zeros, ones) = split(spans, at: level)
        let half = 1 << (levelCount - level - 1)
        distribute(zeros, level: level + 1, first: first, limits[lower..<upper], &counts)
        distribute(ones, level: level + 1, first: first + half, limits[lower..<upper], &counts)
    }

    /// The values at a range of offsets, in their order.
    ///
    /// - Complexity: O(offsets × log(count)), in a twentieth of the time that as many calls of `value(at:)` take.
    func values(_ span: Span) -> [UInt32] {
        guard span.count > 0 else { return [] }
        var found = [UInt32](repeating: 0, count: span.count)
        collect(span, level: 0, value: 0, Array(0..<UInt32(truncatingIfNeeded: span.count)), &found)
        return found
    }

    /// - Parameter origins: for each value of the span, its index in `found`.
    private func collect(_ span: Span, level: Int, value: UInt32, _ origins: [UInt32], _ found: inout [UInt32]) {
        guard origins.count > Self.fewValues, level < levelCount else {
            for (index, origin) in origins.enumerated() {
                let value = self.value(at: span.start &+ index, level: level, value: Int(value))
                found[Int(origin)] = UInt32(truncatingIfNeeded: value)
            }
            return
        }
        var (zeros, ones): ([UInt32], [UInt32]) = ([], [])
        for (index, origin) in origins.enumerated() {
            if bit(span.start &+ index, at: level) { ones.append(origin) } else { zeros.append(origin) }
        }
        let (zeroSpan, oneSpan) = split(span, at: level)
        if !zeros.isEmpty { collect(zeroSpan, level: level + 1, value: value &<< 1, zeros, &found) }
        if !ones.isEmpty { collect(oneSpan, level: level + 1, value: value &<< 1 | 1, ones, &found) }
    }

    /// So few values are looked up one by one in less time than two arrays are made.
    private static let fewValues = 16
}
