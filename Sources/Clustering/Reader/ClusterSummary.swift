// SPDX-License-Identifier: MIT

/// What an answer contains of a cluster, read together.
public struct ClusterSummary: Sendable, BitwiseCopyable {
    /// By `ClusterIndex.id(of:)`, unless the reader replaces it.
    public var id: Int64
    public let pointCount: Int
    /// The centre in the unit square.
    public let x: Double
    public let y: Double

}

extension ClusterIndex {
    public func summary(of cluster: ClusterOrdinal) -> ClusterSummary {
        lookedUp(cluster)
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
