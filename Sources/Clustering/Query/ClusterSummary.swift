// SPDX-License-Identifier: MIT

/// What an answer tells of a cluster, found in one look.
public struct ClusterSummary: Sendable, BitwiseCopyable {
    public let id: Int64
    public let pointCount: Int
    /// The centre in degrees.
    public let longitude: Double
    public let latitude: Double

    fileprivate init(id: Int64, pointCount: Int, x: Double, y: Double) {
        self.id = id
        self.pointCount = pointCount
        longitude = Projection.longitude(x: x)
        latitude = Projection.latitude(y: y)
    }
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
    public func summaries(of nodes: some Collection<Node>) -> [ClusterSummary] {
        var raw: [(id: Int64, count: Int, x: Double, y: Double)] = []
        raw.reserveCapacity(nodes.count)
        for node in nodes {
            guard case .cluster(let cluster) = node else { continue }
            let (x, y) = unitPosition(of: cluster)
            raw.append((id(of: cluster), pointCount(of: cluster), x, y))
        }
        return raw.map { ClusterSummary(id: $0.id, pointCount: $0.count, x: $0.x, y: $0.y) }
    }
}
