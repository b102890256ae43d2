// SPDX-License-Identifier: MIT

/// A node of an index with changes: a point's index, or a cluster's ordinal with the top bit set. Unlike a base
/// index's node numbers, it does not depend on the number of points.
struct NodeKey: Hashable, Sendable, BitwiseCopyable {
    let rawValue: UInt32

    private static let clusterBit: UInt32 = 1 << 31

    @inline(__always) init(rawValue: UInt32) { self.rawValue = rawValue }
    @inline(__always) init(_ point: PointIndex) { rawValue = point.rawValue }
    @inline(__always) init(_ cluster: ClusterOrdinal) { rawValue = cluster.rawValue | Self.clusterBit }

    @inline(__always) init(_ node: Node) {
        switch node {
        case .point(let point): self.init(point)
        case .cluster(let cluster): self.init(cluster)
        }
    }

    @inline(__always) var isCluster: Bool { rawValue & Self.clusterBit != 0 }
    /// The cluster's ordinal, or the point's index.
    @inline(__always) var number: Int { Int(rawValue & ~Self.clusterBit) }

    @inline(__always) var node: Node {
        isCluster
            ? .cluster(ClusterOrdinal(rawValue: rawValue & ~Self.clusterBit))
            : .point(PointIndex(rawValue: rawValue))
    }
}
