// SPDX-License-Identifier: MIT

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
    @inlinable public init(inOrder point: PointIndex) {
        rawValue = (UInt64(point.rawValue) &+ 1) &<< 32
    }
}
