// SPDX-License-Identifier: MIT
import SystemSupport

/// The lowest levels of an index as arrays of their own. A file that has them besides the index can answer these levels before
/// the index has been read.
///
/// Nodes are numbered within the overview: its points first, then its clusters, each in the order of the index.
public struct IndexOverview: Sendable {
    /// The points among the nodes, ascending.
    public let points: [PointIndex]
    /// The clusters among the nodes, ascending.
    public let clusters: [ClusterOrdinal]
    private let sections: [(section: IndexSection, bytes: [UInt8])]

    /// - Returns: nil if the lowest level alone has more nodes or points.
    fileprivate init?<Scalar: Coordinate>(
        _ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>, mostNodes: Int, mostPoints: Int
    ) {
        let shown = OverviewNodes(layers, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        guard shown.levels > 0, !shown.nodes.isEmpty else { return nil }
        // Keys of points are below those of clusters.
        let keys = shown.nodes.map(\.key.rawValue).sorted()
        let slots = shown.nodes.map { node in
            let number = keys.partitionIndex { $0 < node.key.rawValue }
            return SpatialSlot(x: node.x, y: node.y, node: UInt32(truncatingIfNeeded: number))
        }
        let nodes = keys.map { NodeKey(rawValue: $0) }
        let clusters = nodes.drop { !$0.isCluster }.map(\.number)
        points = nodes.prefix { !$0.isCluster }.map { PointIndex(rawValue: $0.rawValue) }
        self.clusters = clusters.map { ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: $0)) }
        var sections: [(section: IndexSection, bytes: [UInt8])] = [
            (.spatialSlots, Self.bytes(slots)),
            (.alive, Self.bytes(shown.alive)),
            (.clusterX, Self.bytes(clusters.map { layers.center(ofCluster: $0).x })),
            (.clusterY, Self.bytes(clusters.map { layers.center(ofCluster: $0).y })),
            (.clusterCounts, Self.bytes(clusters.map { layers.pointCount(ofCluster: $0) })),
            (.clusterZooms, Self.bytes(clusters.map { UInt8(layers.zoom(ofCluster: $0)) })),
            (.originIndexes, Self.bytes(clusters.map { layers.originIndex(ofCluster: $0) })),
        ]
        if layers.base.columns.weights != nil {
            sections.append((.weights, Self.bytes(nodes.map { layers.weight(of: $0) })))
        }
        if layers.base.columns.partitions != nil {
            sections.append((.partitions, Self.bytes(nodes.map { layers.partition(of: $0) })))
        }
        self.sections = sections
    }

    private static func bytes<Element: BitwiseCopyable>(_ values: [Element]) -> [UInt8] {
        values.withUnsafeBytes { Array($0) }
    }

    /// Calls `body` with each section's bytes, in the machine's byte order. They are valid only during the call.
    public func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        for (section, bytes) in sections where failure == nil {
            bytes.withUnsafeBytes { bytes in
                do throws(Failure) { try body(section, bytes) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }
}

extension ClusterIndex {
    /// The lowest levels, as many as have few nodes together.
    ///
    /// Clusters that updates made have no origin index, so of an index with a delta the caller must keep the clusters' ids
    /// itself.
    ///
    /// - Parameters:
    ///   - mostNodes: the most nodes of these levels. A node of several levels counts once.
    ///   - mostPoints: the most points among them.
    /// - Returns: nil if the index has no points, or if its lowest level has more nodes.
    /// - Complexity: O(nodes / 4096 + nodes of the overview, for each of these levels).
    public func overview(mostNodes: Int, mostPoints: Int) -> IndexOverview? {
        switch layers.base.spatial {
        case .float(let spatial):
            return IndexOverview(layers, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        case .double(let spatial):
            return IndexOverview(layers, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        }
    }
}

extension LayeredIndex {
    /// The index of the node that a cluster grew from in the list of the next deeper level; 0 for a cluster that an update made.
    fileprivate func originIndex(ofCluster ordinal: Int) -> UInt32 {
        read(ordinal, base: { $0.originIndexes[ordinal] }, delta: { _ in 0 })
    }
}
