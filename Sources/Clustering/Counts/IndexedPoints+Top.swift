// SPDX-License-Identifier: MIT
import SystemSupport

/// The points with the greatest or least values. Of equal values the first in the source's order comes first.
extension IndexedPoints {
    /// The order in which points are returned.
    public enum Order: Sendable {
        case ascending, descending
    }

    /// A node's point with the greatest (or least) value; nil if none has one.
    ///
    /// - Parameter window: only points that it contains.
    /// - Complexity: O(log(points)); with a window of another property, for each point before the first that counts.
    public func top(
        of node: Node, _ order: Order, in window: PointWindow? = nil, isCancelled: () -> Bool = { false }
    ) -> PointIndex? {
        top(spans(of: node), order, limit: 1, window, isCancelled).first
    }

    /// The points in a box in order of their values.
    ///
    /// - Parameters:
    ///   - limit: the most points to return.
    ///   - window: only points that it contains.
    ///   - isCancelled: called every few milliseconds; if true, the result is incomplete.
    /// - Complexity: O((nodes at the box's edge + limit) × log(points)); with a window of another property, for each
    ///   point before the last that is returned.
    public func top(
        in box: CoordinateBox, _ order: Order, limit: Int, in window: PointWindow? = nil,
        isCancelled: () -> Bool = { false }
    ) -> [PointIndex] {
        top(spans(in: box), order, limit: limit, window, isCancelled)
    }

    private struct Candidate {
        let point: PointIndex
        let value: Double
    }

    private func top(
        _ spans: PointSpans, _ order: Order, limit: Int, _ window: PointWindow?, _ isCancelled: () -> Bool
    ) -> [PointIndex] {
        guard limit > 0 else { return [] }
        var found = built(spans.spans, order, limit, window, isCancelled)
        let placed = spans.placed.compactMap { slot -> Candidate? in
            guard let value = value(placed: slot), window?.contains(placed: slot) ?? true else { return nil }
            return Candidate(point: PointIndex(rawValue: values.placedPoints[Int(slot)]), value: value)
        }
        if !placed.isEmpty {
            found += placed
            found.sort { isBefore($0, $1, order) }
        }
        return found.prefix(limit).map(\.point)
    }

    private func isBefore(_ one: Candidate, _ other: Candidate, _ order: Order) -> Bool {
        guard one.value == other.value else {
            return order == .descending ? one.value > other.value : one.value < other.value
        }
        return index.layers.order(ofPoint: one.point.rawValue) < index.layers.order(ofPoint: other.point.rawValue)
    }

    /// Among the points of the build.
    private func built(
        _ spans: [WaveletMatrix.Span], _ order: Order, _ limit: Int, _ window: PointWindow?, _ isCancelled: () -> Bool
    ) -> [Candidate] {
        var range = 0..<sorted.count
        guard let window else { return built(spans, order, limit, in: range, isCancelled) { _ in true } }
        guard window.points.ranks !== ranks else {
            range = range.clamped(to: window.ranks)
            return built(spans, order, limit, in: range, isCancelled) { _ in true }
        }
        let other = window.points.ranks
        let inside = spans.reduce(0) { $0 + other.count($1, in: window.ranks) }
        guard inside > limit * Self.fewCandidates else {
            return few(spans, order, limit, window, isCancelled)
        }
        return built(spans, order, limit, in: range, isCancelled) {
            window.ranks.contains(other.value(at: $0))
        }
    }

    /// Up to this many points for each one that is returned are all looked at. Among more, one that counts comes soon.
    private static let fewCandidates = 256

    /// The same if a window has few points.
    private func few(
        _ spans: [WaveletMatrix.Span], _ order: Order, _ limit: Int, _ window: PointWindow, _ isCancelled: () -> Bool
    ) -> [Candidate] {
        var found: [Int] = []
        window.points.ranks.visit(spans, in: window.ranks) { rank in
            let own = ranks.value(at: window.points.ranks.offset(of: rank))
            if own < sorted.count { found.append(own) }
            return !isCancelled()
        }
        found.sort { order == .descending ? $0 > $1 : $0 < $1 }
        if order == .ascending { found = reversingTies(found) }
        return found.prefix(limit).map(candidate)
    }

    private func candidate(_ rank: Int) -> Candidate {
        Candidate(point: point(at: ranks.offset(of: rank)), value: sorted[rank])
    }

    /// Ascending ranks with each group of equal values reversed: the first point of a group has its greatest rank.
    private func reversingTies(_ ranks: [Int]) -> [Int] {
        var (turned, start): ([Int], Int) = ([], 0)
        while start < ranks.count {
            let end = sorted.count(below: sorted[ranks[start]], isInclusive: true)
            let next = (start..<ranks.count).partitionIndex { ranks[$0] < end }
            turned += ranks[start..<next].reversed()
            start = next
        }
        return turned
    }

    /// - Parameter isCounted: whether the point at an offset counts.
    private func built(
        _ spans: [WaveletMatrix.Span], _ order: Order, _ limit: Int, in range: Range<Int>, _ isCancelled: () -> Bool,
        _ isCounted: (_ offset: Int) -> Bool
    ) -> [Candidate] {
        var found: [Candidate] = []
        func add(_ rank: Int) -> Bool {
            let offset = ranks.offset(of: rank)
            if isCounted(offset) { found.append(Candidate(point: point(at: offset), value: sorted[rank])) }
            return found.count < limit && !isCancelled()
        }
        if order == .descending {
            ranks.visit(spans, in: range, add)
            return found
        }
        var start = range.lowerBound
        while start < range.upperBound, found.count < limit, !isCancelled() {
            // The least value that is left, then its points from the greatest rank.
            var least: Int?
            ranks.visit(spans, in: start..<range.upperBound, ascending: true) { rank in
                least = rank
                return false
            }
            guard let least else { break }
            let end = sorted.count(below: sorted[least], isInclusive: true)
            ranks.visit(spans, in: least..<min(range.upperBound, end), add)
            start = max(end, least + 1)
        }
        return found
    }
}
