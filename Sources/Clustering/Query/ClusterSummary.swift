// SPDX-License-Identifier: MIT

/// What an answer tells of a cluster, found in one look.
public struct ClusterSummary: Sendable, BitwiseCopyable {
    public let id: Int64
    public let pointCount: Int
    /// The centre in the unit square.
    public let x: Double
    public let y: Double

    /// The centre in degrees.
    @inlinable public var longitude: Double { Projection.longitude(x: x) }
    /// Costs two transcendental functions.
    @inlinable public var latitude: Double { Projection.latitude(y: y) }
}

extension ClusterIndex {
    public func summary(of cluster: ClusterOrdinal) -> ClusterSummary {
        let (x, y) = unitPosition(of: cluster)
        return ClusterSummary(id: id(of: cluster), pointCount: pointCount(of: cluster), x: x, y: y)
    }

    /// The summaries of the clusters among some nodes, in their order.
    ///
    /// Each look goes to another place in memory; made for all nodes before anything is written, the looks
    /// wait for memory together instead of one after the other.
    ///
    /// - Parameter found: emptied first; a caller that keeps it spares the allocation.
    public func findSummaries(of nodes: ArraySlice<Node>, into found: inout [ClusterSummary]) {
        found.removeAll(keepingCapacity: true)
        found.reserveCapacity(nodes.count)
        for node in nodes {
            if case .cluster(let cluster) = node { found.append(lookedUp(cluster)) }
        }
    }

    @inline(__always) private func lookedUp(_ cluster: ClusterOrdinal) -> ClusterSummary {
        let ordinal = Int(cluster.rawValue)
        // Clusters that changes made are numbered behind the base's.
        guard ordinal < columns.counts.count else { return summary(of: cluster) }
        return ClusterSummary(
            id: baseId(ordinal), pointCount: Int(columns.counts[ordinal]), x: columns.x[ordinal],
            y: columns.y[ordinal])
    }
}
