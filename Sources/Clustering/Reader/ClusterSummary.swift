// SPDX-License-Identifier: MIT

/// The data of a cluster that an answer contains, read together.
public struct ClusterSummary: Sendable, BitwiseCopyable {
    /// The id from `ClusterIndex.id(of:)`, unless the reader replaces it.
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
