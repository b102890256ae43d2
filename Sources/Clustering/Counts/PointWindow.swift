// SPDX-License-Identifier: MIT
import SystemSupport

/// A half-open range of one property's values: it counts and finds the points whose value lies in it.
public struct PointWindow: Sendable {
    let points: IndexedPoints
    private let from: Double
    private let to: Double
    /// The ranks of values in the window.
    let ranks: Range<Int>

    /// - Parameters:
    ///   - from: the least value that counts; nil for no bound.
    ///   - to: the first value that does not count any more; nil for no bound. Not above `from`: nothing counts.
    public init(_ points: IndexedPoints, from: Double?, to: Double?) {
        self.points = points
        self.from = from ?? -.infinity
        self.to = to ?? .infinity
        let (lower, upper) = (
            points.sorted.count(below: self.from), to.map { points.sorted.count(below: $0) } ?? points.sorted.count
        )
        ranks = lower..<max(lower, upper)
    }

    func contains(_ value: Double) -> Bool { value >= from && value < to }

    /// Whether a point counts. A point without a value never does.
    ///
    /// - Complexity: O(log(points)).
    public func contains(_ point: PointIndex) -> Bool {
        if let slot = points.values.slots[point.rawValue] { return contains(placed: slot) }
        guard let offset = points.offset(of: point) else { return false }
        return ranks.contains(points.ranks.value(at: offset))
    }

    func contains(placed slot: UInt32) -> Bool { points.value(placed: slot).map(contains) ?? false }

    /// The number of a node's points that count.
    ///
    /// - Complexity: O(log(points)); for a cluster that an update made, for each of its children that updates made.
    public func count(of node: Node) -> Int {
        switch node {
        case .point(let point): return contains(point) ? 1 : 0
        case .cluster(let cluster):
            if let span = points.span(of: cluster) { return points.ranks.count(span, in: ranks) }
            return count(points.spans(of: node))
        }
    }

    func count(_ spans: PointSpans) -> Int {
        spans.spans.reduce(spans.placed.lazy.filter(contains(placed:)).count) {
            $0 + points.ranks.count($1, in: ranks)
        }
    }

    /// All points that count, as a bit for each `PointIndex`.
    ///
    /// - Parameter isCancelled: called every few milliseconds; if true, the result is wrong.
    /// - Complexity: O(points).
    func members(_ isCancelled: () -> Bool) -> [UInt64] {
        var bits = [UInt64](repeating: 0, count: (points.index.pointLimit + 63) / 64)
        func set(_ point: Int, _ counts: Bool) {
            guard point / 64 < bits.count else { return }
            let bit = UInt64(1) << UInt64(point % 64)
            if counts { bits[point / 64] |= bit } else { bits[point / 64] &= ~bit }
        }
        visitOffsets(WaveletMatrix.Span(start: 0, end: points.ranks.count), isCancelled) { offsets in
            for offset in offsets { set(Int(points.point(at: Int(offset)).rawValue), true) }
            return true
        }
        for slot in 0..<points.values.placedPoints.count {
            set(Int(points.values.placedPoints[slot]), contains(placed: UInt32(slot)))
        }
        return bits
    }

    /// The points of a cluster that count, in the order of its leaves.
    ///
    /// - Parameters:
    ///   - offset: how many of them to leave out.
    ///   - limit: the most to return.
    ///   - isCancelled: called every few milliseconds; if true, the result is incomplete.
    /// - Complexity: O(log(points)) for each point returned, or O(leaves).
    public func leaves(
        of cluster: ClusterOrdinal, offset: Int = 0, limit: Int = .max, isCancelled: () -> Bool = { false }
    ) -> [PointIndex] {
        var (found, skipped): ([PointIndex], Int) = ([], offset)
        points.index.leaves(of: cluster).forEachRun { run, count in
            guard found.count < limit else { return }
            if run.isPoint {
                let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: run.first))
                guard contains(point) else { return }
                if skipped > 0 { skipped -= 1 } else { found.append(point) }
                return
            }
            var span = WaveletMatrix.Span(start: run.first, end: run.first + count)
            let inside = points.ranks.count(span, in: ranks)
            if skipped >= inside { return skipped -= inside }
            if skipped > 0 { span = rest(of: span, after: skipped) }
            skipped = 0
            visitOffsets(span, isCancelled) { offsets in
                for offset in offsets.sorted().prefix(limit - found.count) {
                    found.append(points.point(at: Int(offset)))
                }
                return found.count < limit
            }
        }
        return found
    }

    /// A span without its first points, among which so many count.
    private func rest(of span: WaveletMatrix.Span, after count: Int) -> WaveletMatrix.Span {
        let start = (span.start..<span.end).partitionIndex { offset in
            points.ranks.count(WaveletMatrix.Span(start: span.start, end: offset + 1), in: ranks) <= count
        }
        return WaveletMatrix.Span(start: start, end: span.end)
    }

    /// Calls `body` with the offsets of a span's points that count, for one part of the span after the other, each in no
    /// particular order, until it returns false.
    func visitOffsets(_ span: WaveletMatrix.Span, _ isCancelled: () -> Bool, _ body: ([UInt32]) -> Bool) {
        for start in stride(from: span.start, to: span.end, by: IndexedPoints.pieceCount) where !isCancelled() {
            let piece = WaveletMatrix.Span(start: start, end: min(span.end, start + IndexedPoints.pieceCount))
            let offsets = offsets(in: piece)
            guard offsets.isEmpty || body(offsets) else { return }
        }
    }

    private func offsets(in piece: WaveletMatrix.Span) -> [UInt32] {
        let inside = points.ranks.count(piece, in: ranks)
        if inside == piece.count { return (piece.start..<piece.end).map { UInt32(truncatingIfNeeded: $0) } }
        guard inside * Self.costOfOffset < piece.count else { return points.ranks.offsets(piece, in: ranks) }
        var offsets: [UInt32] = []
        points.ranks.visit([piece], in: ranks) { rank in
            offsets.append(UInt32(truncatingIfNeeded: points.ranks.offset(of: rank)))
            return true
        }
        return offsets
    }

    /// Finding a rank's offset takes about as long as looking at this many offsets of a piece.
    private static let costOfOffset = 32
}
