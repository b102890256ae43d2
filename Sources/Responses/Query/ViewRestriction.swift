// SPDX-License-Identifier: MIT
import Clustering
import SourceEngine
import SystemSupport

/// What a query shows of the points of a view, which stay clustered as they are: those in a window, some of them as points
/// of their own, and which of a cluster's is the greatest. `SourceCatalog.restriction` reads it from the params.
public struct ViewRestriction: Sendable, Equatable {
    /// A half-open range of an indexed property's values; nil for no bound.
    public struct Window: Sendable, Equatable {
        public let property: String
        public let from: Double?
        public let to: Double?

        public init(property: String, from: Double?, to: Double?) {
            (self.property, self.from, self.to) = (property, from, to)
        }
    }

    /// An indexed property by whose values points are ranked.
    public struct Ranking: Sendable, Equatable {
        public let property: String
        public let order: IndexedPoints.Order

        public init(property: String, order: IndexedPoints.Order) { (self.property, self.order) = (property, order) }
    }

    public var window: Window?
    /// Features that are shown as points of their own.
    public var pins: [FeatureIdentifier] = []
    public var top: Ranking?

    public init() {}

    /// The most pinned features of a query.
    public static let mostPins = 100

    public var isNone: Bool { window == nil && pins.isEmpty && top == nil }

    /// Whether nothing has to be built before a view can be shown so.
    public func isReady(in revision: Revision, _ view: View) throws(SourceError) -> Bool {
        if let window, try revision.readyPoints(window.property, in: view, path: "window") == nil { return false }
        if let top, try revision.readyPoints(top.property, in: view, path: "topBy") == nil { return false }
        return pins.allSatisfy(revision.isQuickToLocate)
    }
}

/// A restriction of one view: how many of each node's points it shows.
///
/// Used by one thread.
final class ShownPoints {
    let window: PointWindow?
    /// The points that are shown on their own.
    let pinned: [PointIndex]
    private let ranking: (points: IndexedPoints, order: IndexedPoints.Order)?
    private let pinnedSet: Set<PointIndex>
    /// The number of pinned points of each node of the level.
    private let pinnedOfNode: [Node: Int]
    /// Those that have been counted: a cluster is first selected, then written.
    private var counts: [ClusterOrdinal: Int] = [:]
    private let view: View
    private let isCancelled: () -> Bool

    /// - Parameter level: that of the nodes in question; pins need it.
    init(
        _ restriction: ViewRestriction, _ revision: Revision, _ view: View, at level: Zoom?,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        self.view = view
        isCancelled = { cancellation.isCancelled }
        window = try restriction.window.map { (window) throws(SourceError) in
            try revision.window(window, in: view, cancellation)
        }
        // Single points are not shown to callers who see clusters of enough points only.
        let showsPoints = view.leastCount <= 1
        ranking = try (showsPoints ? restriction.top : nil).map { (top) throws(SourceError) in
            (try revision.points(by: top.property, in: view, path: "topBy", cancellation), top.order)
        }
        var (pinned, known): ([PointIndex], Set<PointIndex>) = ([], [])
        var pinnedOfNode: [Node: Int] = [:]
        for pin in showsPoints ? restriction.pins : [] {
            for row in try revision.identifierIndex(cancellation).rows(of: pin, in: revision.store) {
                guard let point = view.point(of: row), window?.contains(point) ?? true, known.insert(point).inserted
                else { continue }
                pinned.append(point)
                if let level { pinnedOfNode[view.index.node(showing: point, at: level), default: 0] += 1 }
            }
        }
        (self.pinned, pinnedSet, self.pinnedOfNode) = (pinned, known, pinnedOfNode)
    }

    /// The number of a node's points that it shows.
    func count(of node: Node) -> Int {
        guard case .cluster(let cluster) = node else { return counted(node) }
        if let count = counts[cluster] { return count }
        let count = counted(node)
        counts[cluster] = count
        return count
    }

    /// Whether enough of a node's points are left.
    func shows(_ node: Node) -> Bool { count(of: node) >= max(1, view.leastCount) }

    private func counted(_ node: Node) -> Int {
        let all: Int =
            if let window {
                window.count(of: node)
            } else if case .cluster(let cluster) = node {
                view.index.pointCount(of: cluster)
            } else {
                1
            }
        return all - (pinnedOfNode[node] ?? 0)
    }

    func isPinned(_ point: PointIndex) -> Bool { pinnedSet.contains(point) }

    /// The points of a cluster in the window; nil without a window.
    func leaves(of cluster: ClusterOrdinal) -> [PointIndex]? {
        window?.leaves(of: cluster, isCancelled: isCancelled)
    }

    /// A cluster's point with the greatest or least value; nil if none has one.
    func top(of cluster: ClusterOrdinal) -> PointIndex? {
        ranking.flatMap { $0.points.top(of: .cluster(cluster), $0.order, in: window, isCancelled: isCancelled) }
    }
}

extension Revision {
    /// - Returns: nil if nothing is restricted.
    func shown(
        _ restriction: ViewRestriction?, in view: View, at level: Zoom? = nil, _ cancellation: Cancellation
    ) throws(SourceError) -> ShownPoints? {
        guard let restriction, !restriction.isNone else { return nil }
        return try ShownPoints(restriction, self, view, at: level, cancellation)
    }

    /// The window of a view. The view of a filter gets the values on first use.
    func window(
        _ window: ViewRestriction.Window, in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> PointWindow {
        let points = try points(by: window.property, in: view, path: "window", cancellation)
        return PointWindow(points, from: window.from, to: window.to)
    }
}
