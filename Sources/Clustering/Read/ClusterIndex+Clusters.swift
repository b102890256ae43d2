// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// A cluster's id as supercluster computes it: `((index << 5) | (zoom + 1)) + points`. `index` is the index of the
    /// node from which the cluster grew, in the list of the next deeper level. A cluster that an update made (see
    /// `updated`) has `2^48 + ((point << 5) | (zoom + 1))`, where `point` is the index of the point from which it grew.
    public func id(of cluster: ClusterOrdinal) -> Int64 {
        let ordinal = Int(cluster.rawValue)
        return layers.read(ordinal, base: { _ in layers.base.id(ofCluster: ordinal) }, delta: { $0.id })
    }

    /// The cluster with an id; nil if there is none. O(log(clusters of its zoom)).
    public func cluster(id: Int64) -> ClusterOrdinal? {
        isPlain ? layers.base.cluster(id: id) : layeredCluster(id: id)
    }

    /// A function of its own, because it copies the layers, for which the lookup in a plain index would reserve room,
    /// too.
    @inline(never) private func layeredCluster(id: Int64) -> ClusterOrdinal? {
        if let cluster = layers.deltaCluster(id: id) { return cluster }
        guard let cluster = layers.base.cluster(id: id), layers.isAlive(cluster: Int(cluster.rawValue)) else {
            return nil
        }
        return cluster
    }

    /// The number of points in a cluster, at least 2.
    public func pointCount(of cluster: ClusterOrdinal) -> Int {
        Int(layers.pointCount(ofCluster: Int(cluster.rawValue)))
    }

    /// The sum of a cluster's points' weights; nil if points are not weighted.
    public func weight(of cluster: ClusterOrdinal) -> Double? {
        isWeighted ? layers.weight(of: NodeKey(cluster)) : nil
    }

    /// Whether points are weighted.
    public var isWeighted: Bool { layers.base.columns.weights != nil }

    /// The partition that a cluster's points belong to; nil if points are not partitioned.
    public func partition(of cluster: ClusterOrdinal) -> UInt32? {
        layers.base.columns.partitions == nil ? nil : layers.partition(of: NodeKey(cluster))
    }

    /// A cluster's centre in the unit square, in 64 bits.
    public func unitPosition(of cluster: ClusterOrdinal) -> (x: Double, y: Double) {
        layers.center(ofCluster: Int(cluster.rawValue))
    }

    /// A cluster's centre in the coordinates of the points.
    public func coordinates(of cluster: ClusterOrdinal) -> (longitude: Double, latitude: Double) {
        let (x, y) = unitPosition(of: cluster)
        let projection = options.projection
        return (projection.longitude(x: x), projection.latitude(y: y))
    }

    /// The deepest zoom at which a cluster is shown.
    public func zoom(of cluster: ClusterOrdinal) -> Zoom {
        Zoom(rawValue: layers.zoom(ofCluster: Int(cluster.rawValue)))
    }

    /// The zoom at which a cluster splits into its children: one deeper than the deepest that shows it.
    public func expansionZoom(of cluster: ClusterOrdinal) -> Zoom {
        Zoom(rawValue: zoom(of: cluster).rawValue + 1)
    }

    /// The point from which a node grew. At each zoom, no two nodes have the same origin.
    public func origin(of node: Node) -> PointIndex {
        PointIndex(rawValue: layers.origin(of: NodeKey(node)))
    }

    /// The cluster that contains a node at a lower zoom; nil at the lowest.
    public func parent(of node: Node) -> ClusterOrdinal? {
        let parent = layers.parent(of: NodeKey(node))
        return parent == NodeNumber.none ? nil : ClusterOrdinal(rawValue: parent)
    }

    /// The node that shows a point at a zoom: the point itself, or the cluster that contains it. O(zooms).
    public func node(showing point: PointIndex, at zoom: Zoom) -> Node {
        var node = Node.point(point)
        // A node has an ancestor at most at each zoom; the bound also ends the walk in an index that is lost.
        for _ in 0...options.maximumZoom {
            guard let parent = parent(of: node), self.zoom(of: parent) >= zoom else { break }
            node = .cluster(parent)
        }
        return node
    }

    /// The cluster of a zoom that grew from a point; nil if there is none. O(zooms).
    public func cluster(from point: PointIndex, at zoom: Zoom) -> ClusterOrdinal? {
        layers.cluster(from: point.rawValue, zoom: zoom.rawValue)
    }

    /// Whether a point exists: it was built or added, and has not been removed.
    public func contains(_ point: PointIndex) -> Bool { layers.isAlive(point: Int(point.rawValue)) }

    /// A point's index in the input, not counting removed points.
    public func inputIndex(of point: PointIndex) -> Int {
        let removed = layers.delta.removedPoints
        return Int(point.rawValue) - (0..<removed.count).partitionIndex { removed[$0] < point.rawValue }
    }
}

/// The data of a cluster that an answer contains, read together.
public struct ClusterSummary: Sendable, BitwiseCopyable {
    /// The id from `ClusterIndex.id(of:)`, unless the reader replaces it.
    public var id: Int64
    public var pointCount: Int
    /// The centre in the unit square.
    public let x: Double
    public let y: Double

}

extension ClusterIndex {
    public func summary(of cluster: ClusterOrdinal) -> ClusterSummary { lookedUp(cluster) }

    /// Finds the summaries of the clusters among the nodes, in their order.
    ///
    /// Each lookup reads another part of memory. If all are made before anything is written, their waits for
    /// memory overlap instead of adding up.
    ///
    /// - Parameter found: emptied first; reusing it avoids an allocation.
    public func findSummaries(of nodes: ArraySlice<Node>, into found: inout [ClusterSummary]) {
        found.removeAll(keepingCapacity: true)
        found.reserveCapacity(nodes.count)
        for node in nodes {
            if case .cluster(let cluster) = node { found.append(lookedUp(cluster)) }
        }
    }

    /// Lets the pages be read from the disk side by side that summaries of these nodes are made of, if the index is in
    /// a file. O(1) if not.
    public func willRead(_ nodes: some Sequence<Node>) {
        // Not a copy of the base, which would retain each of its columns.
        guard let memory = layers.base.memory, !memory.isResident else { return }
        let base = layers.base
        let ordinals = nodes.compactMap { node -> Int? in
            guard case .cluster(let cluster) = node, cluster.rawValue < base.clusterCount else { return nil }
            return Int(cluster.rawValue)
        }
        base.columns.willRead(ordinals, from: memory)
    }

    @inline(__always) private func lookedUp(_ cluster: ClusterOrdinal) -> ClusterSummary {
        let ordinal = Int(cluster.rawValue)
        return layers.read(
            ordinal,
            base: { columns in
                ClusterSummary(
                    id: layers.base.id(ofCluster: ordinal), pointCount: Int(columns.counts[ordinal]),
                    x: columns.x[ordinal], y: columns.y[ordinal])
            },
            delta: { ClusterSummary(id: $0.id, pointCount: Int($0.count), x: $0.x, y: $0.y) })
    }
}
