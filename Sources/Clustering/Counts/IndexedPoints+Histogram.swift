// SPDX-License-Identifier: MIT
import SystemSupport

/// How the values of points are distributed.
public struct ValueHistogram: Sendable, Equatable {
    /// Ascending; one more than there are bins.
    public let edges: [Double]
    /// For each bin the number of values from its lower edge to below its upper edge; the last bin includes its upper edge.
    public let counts: [Int]
    public let below: Int
    public let above: Int
    /// The number of points without a value.
    public let missing: Int
}

extension IndexedPoints {
    /// Counts the values of points in a box between edges.
    ///
    /// - Parameters:
    ///   - edges: at least two, strictly ascending.
    ///   - window: only points that it contains, by another property.
    ///   - isCancelled: called every few milliseconds; if true, the result is wrong.
    /// - Complexity: O(nodes at the box's edge × bins × log(points)); with a window, O(points that it contains in the
    ///   box × log(points)).
    public func histogram(
        in box: CoordinateBox, edges: [Double], window: PointWindow? = nil, isCancelled: () -> Bool = { false }
    ) -> ValueHistogram {
        histogram(spans(in: box), edges, window, isCancelled)
    }

    /// The same with bins of equal width from the least to the greatest value, with the edges that NumPy's `histogram`
    /// gives. If all values are equal, they extend half a unit to both sides; without any value from 0 to 1.
    public func histogram(
        in box: CoordinateBox, bins: Int, window: PointWindow? = nil, isCancelled: () -> Bool = { false }
    ) -> ValueHistogram {
        let spans = spans(in: box)
        var (least, greatest) = extremes(spans, window, isCancelled) ?? (0, 1)
        if least == greatest { (least, greatest) = (least - 0.5, greatest + 0.5) }
        return histogram(spans, Self.edges(from: least, to: greatest, bins: bins), window, isCancelled)
    }

    /// NumPy's `linspace`.
    private static func edges(from first: Double, to last: Double, bins: Int) -> [Double] {
        let count = Double(bins)
        let width = last - first
        let step = width / count
        return (0..<bins).map { bin in
            // Values near both limits of a double: their difference is beyond these, and NumPy has no answer.
            guard width.isFinite else { return first * (1 - Double(bin) / count) + last * (Double(bin) / count) }
            return Double(bin) * step + first
        } + [last]
    }

    /// The least and the greatest value; nil if no point has one.
    private func extremes(
        _ spans: PointSpans, _ window: PointWindow?, _ isCancelled: () -> Bool
    ) -> (Double, Double)? {
        var (least, greatest) = (Double.infinity, -Double.infinity)
        func add(_ value: Double) { (least, greatest) = (min(least, value), max(greatest, value)) }
        for slot in spans.placed where window?.contains(placed: slot) ?? true { value(placed: slot).map(add) }
        if let window {
            visit(spans.spans, window, isCancelled) { offsets in
                for isGreatest in [false, true] {
                    ranks.extreme(of: offsets, below: sorted.count, isGreatest: isGreatest).map { add(sorted[$0]) }
                }
            }
        } else {
            for order in [true, false] {
                ranks.visit(spans.spans, in: 0..<sorted.count, ascending: order) { rank in
                    add(sorted[rank])
                    return false
                }
            }
        }
        return least <= greatest ? (least, greatest) : nil
    }

    private func histogram(
        _ spans: PointSpans, _ edges: [Double], _ window: PointWindow?, _ isCancelled: () -> Bool
    ) -> ValueHistogram {
        // The ranks at which bins begin, then where the last one and where the values end.
        var limits = edges.dropLast().map { sorted.count(below: $0) }
        limits.append(edges.last.map { sorted.count(below: $0, isInclusive: true) } ?? sorted.count)
        limits.append(sorted.count)
        var counts: [Int]
        if let window {
            counts = [Int](repeating: 0, count: limits.count + 1)
            visit(spans.spans, window, isCancelled) { ranks.distribute($0, by: limits, into: &counts) }
        } else {
            counts = ranks.distribution(spans.spans, by: limits)
        }
        for slot in spans.placed where window?.contains(placed: slot) ?? true {
            counts[bin(value(placed: slot), edges)] += 1
        }
        let end = edges.count
        return ValueHistogram(
            edges: edges, counts: Array(counts[1..<end]), below: counts[0], above: counts[end], missing: counts[end + 1]
        )
    }

    /// The index of a value's count: below, the bins, above, missing.
    private func bin(_ value: Double?, _ edges: [Double]) -> Int {
        guard let value else { return edges.count + 1 }
        // The last bin includes its upper edge.
        if value == edges.last { return edges.count - 1 }
        return edges.partitionIndex { $0 <= value }
    }

    /// Calls `body` with the offsets of points of the build that a window of another property contains, those of many
    /// short spans together.
    private func visit(
        _ spans: [WaveletMatrix.Span], _ window: PointWindow, _ isCancelled: () -> Bool, _ body: ([UInt32]) -> Void
    ) {
        var gathered: [UInt32] = []
        for span in spans {
            window.visitOffsets(span, isCancelled) { offsets in
                gathered += offsets
                if gathered.count >= Self.pieceCount {
                    body(gathered)
                    gathered.removeAll(keepingCapacity: true)
                }
                return true
            }
        }
        body(gathered)
    }
}
