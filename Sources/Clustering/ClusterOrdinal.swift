// SPDX-License-Identifier: MIT

/// A cluster's number in its index, from 0: deepest zoom first, and within a zoom along a space-filling curve, so
/// that clusters near each other on the map are near each other in memory. A cluster's children have lower
/// ordinals than the cluster.
public struct ClusterOrdinal: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
