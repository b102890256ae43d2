// SPDX-License-Identifier: MIT

/// What a map shows: a single point, or a cluster.
public enum Node: Hashable, Sendable, BitwiseCopyable {
    case point(PointIndex)
    case cluster(ClusterOrdinal)

    @inline(__always) init(number: UInt32, pointCount: Int) {
        self =
            Int(number) < pointCount
            ? .point(PointIndex(rawValue: number))
            : .cluster(ClusterOrdinal(rawValue: number &- UInt32(truncatingIfNeeded: pointCount)))
    }
}

/// A point's index in the order in which points are clustered, from 0. Points that updates add come after all others.
public struct PointIndex: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A cluster's number in its index, from 0: deepest zoom first, and within a zoom along a space-filling curve, so
/// that clusters near each other on the map are near each other in memory. A cluster's children have lower
/// ordinals than the cluster.
public struct ClusterOrdinal: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A level of an index, from `minimumZoom` to `maximumZoom + 1`. At the last one every point stands alone.
public struct Zoom: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: Int
    @inlinable public init(rawValue: Int) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

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
            ? .cluster(ClusterOrdinal(rawValue: rawValue & ~Self.clusterBit)) : .point(PointIndex(rawValue: rawValue))
    }
}

/// A point's position in the clustering order, as a number that leaves room for points in between.
///
/// The points of a built index are numbered in this order, so their labels follow from their indexes. A point
/// that an update adds gets a label between those of its neighbours. Relabelling never changes the order of
/// points; see "order maintenance" (Dietz, 1982).
public struct OrderLabel: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The label of a point whose position follows from its index: after all points with lower indexes.
    @inlinable public init(inOrder point: PointIndex) { rawValue = (UInt64(point.rawValue) &+ 1) &<< 32 }
}
