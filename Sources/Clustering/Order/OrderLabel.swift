// SPDX-License-Identifier: MIT

/// A point's position in the order in which points are clustered, as a number that leaves room for points between others.
///
/// The points that an index was built with are numbered in this order, so their labels follow from their indexes. A point that
/// an update adds gets a label between those of its neighbours. Labels of points never change their order; see
/// "order maintenance" (Dietz, 1982).
public struct OrderLabel: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The label of a point that comes where its index says: after all with lower indexes.
    @inlinable public init(inOrder point: PointIndex) {
        rawValue = (UInt64(point.rawValue) &+ 1) &<< 32
    }
}
