// SPDX-License-Identifier: MIT
import Clustering
import SourceEngine

/// The nodes of a query's answer: planning may find them before they are written.
public struct FoundNodes: Sendable {
    let nodes: [Node]
    /// Whether there are more than the query's limit.
    let isTruncated: Bool

    public var count: Int { nodes.count }
}

extension View {
    /// Finds the nodes of a query.
    ///
    /// - Parameters:
    ///   - expected: about how many there are; most views show a few dozen.
    ///   - shown: what is shown of them: nodes of which nothing is left are left out, and pinned points come first.
    func nodes(
        _ query: ClustersQuery, expected: Int = 64, shown: ShownPoints?, of revision: Revision
    ) throws(SourceError) -> FoundNodes {
        guard let shown else { return try nodes(query, expected: expected) }
        var all = query
        all.limit = nil
        let (box, store) = (query.box, revision.store)
        let pinned = shown.pinned.filter { point in
            let (longitude, latitude) = store.coordinates(feature(of: point))
            return index.isInside(
                longitude, latitude, west: box.west, south: box.south, east: box.east, north: box.north)
        }
        let others = try nodes(all, expected: expected).nodes.filter(shown.shows)
        let found = pinned.map(Node.point) + others
        guard let limit = query.limit, found.count > limit else { return FoundNodes(nodes: found, isTruncated: false) }
        return FoundNodes(nodes: Array(found.prefix(limit)), isTruncated: true)
    }

    func nodes(_ query: ClustersQuery, expected: Int = 64) throws(SourceError) -> FoundNodes {
        let box = query.box
        _ = try checked(box)
        var nodes: [Node] = []
        nodes.reserveCapacity(min(query.limit ?? .max, expected))
        // Those that are not shown do not count towards the limit.
        let limit = leastCount > 1 ? nil : query.limit
        let isTruncated = index.nodes(
            west: box.west, south: box.south, east: box.east, north: box.north,
            at: index.level(for: query.zoom), limit: limit ?? .max, into: &nodes)
        guard leastCount > 1 else { return FoundNodes(nodes: nodes, isTruncated: isTruncated) }
        nodes.removeAll { !shows($0) }
        let most = query.limit ?? .max
        return FoundNodes(nodes: Array(nodes.prefix(most)), isTruncated: nodes.count > most)
    }
}

/// A quick upper bound of an answer's cost. The event loop leaves costly answers to the pool.
extension View {
    /// The approximate number of nodes in a box, rather too high than too low.
    public func expectedNodes(in box: Box, zoom: Double) -> Int {
        let projection = index.projection
        let domain = projection.domain
        let isWrapped = projection.isRound && box.west > box.east
        let width = isWrapped ? 1 : projection.x(longitude: box.east) - projection.x(longitude: box.west)
        let top = projection.y(latitude: max(domain.south, min(domain.north, box.north)))
        let bottom = projection.y(latitude: max(domain.south, min(domain.north, box.south)))
        return expectedNodes(area: max(0, min(1, width)) * max(0, bottom - top), at: index.level(for: zoom))
    }

    /// The same for a tile of a zoom with its margin.
    public func expectedNodes(inTileOf z: Int) -> Int {
        let level = index.level(for: Double(z))
        let options = index.options
        let margin = options.radii[min(max(z, 0), options.radii.count - 1)] / options.extent
        let side = min(1, (1 + 2 * margin) / Double(sign: .plus, exponent: z, significand: 1))
        return expectedNodes(area: side * side, at: level)
    }

    /// - Parameter area: of the unit square.
    private func expectedNodes(area: Double, at level: Zoom) -> Int {
        let options = index.options
        let tiles = area * Double(sign: .plus, exponent: 2 * level.rawValue, significand: 1)
        // If two nodes form a cluster, no two nodes are within a radius of each other, which bounds their number in a
        // tile. Otherwise points may coincide, and an estimate has to do.
        let radius = level.rawValue <= options.maximumZoom ? options.radii[level.rawValue] : 0
        let isSpaced = options.minimumPoints <= 2 && radius > 0
        let density = isSpaced ? options.extent * options.extent / (radius * radius) : Self.guessedDensity
        let expected = min(tiles * density, Double(index.pointCount))
        return expected.isFinite ? Int(expected) : index.pointCount
    }

    private static let guessedDensity = 200.0
}

/// Of a view whose index is not in memory as a whole, these are 0: reading it may wait for the disk, so the pool has
/// such answers anyway.
extension Revision {
    /// The number of a cluster's children; 0 if there is no cluster with this id.
    public func childCount(of clusterId: Int64, in view: View) -> Int {
        quicklyKnown(clusterId, in: view).map { view.index.children(of: $0).count } ?? 0
    }

    /// The number of a cluster's points; 0 if there is no cluster with this id.
    public func pointCount(of clusterId: Int64, in view: View) -> Int {
        quicklyKnown(clusterId, in: view).map { view.index.pointCount(of: $0) } ?? 0
    }

    /// The number of points to read for a cluster's hull; 0 if it is cached.
    public func hullCost(of clusterId: Int64, in view: View) -> Int {
        guard let cluster = quicklyKnown(clusterId, in: view),
            ViewAnswerCache.of(view).hulls.hull(of: cluster) == nil
        else { return 0 }
        return view.index.pointCount(of: cluster)
    }

    private func quicklyKnown(_ clusterId: Int64, in view: View) -> ClusterOrdinal? {
        view.index.isResident ? knownCluster(clusterId, in: view) : nil
    }
}
