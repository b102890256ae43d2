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
