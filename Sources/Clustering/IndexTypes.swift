// SPDX-License-Identifier: MIT

/// A point's place in the input, from 0.
public struct PointIndex: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A cluster's place in its index, from 0: deepest zoom first, and within a zoom along a space-filling curve,
/// so that what is near on the map is near in memory. A cluster's children always come before it.
public struct ClusterOrdinal: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A level of an index, from `minimumZoom` to `maximumZoom + 1`, where every point stands alone.
public struct Zoom: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: Int
    @inlinable public init(rawValue: Int) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// What is seen on a map: a point by itself, or a cluster.
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

/// A node as the index's arrays hold it: points first, then clusters.
///
/// Invariant: below `pointCount` it is a point's index, else a cluster's ordinal plus `pointCount`;
/// `.none` stands for no node at all. An index has fewer than 2^32 - 1 nodes, which `build` checks.
struct NodeNumber {
    static let none = UInt32.max
}
