// SPDX-License-Identifier: MIT

/// A point's index in the order in which points are clustered, from 0. Points that updates add come after all others.
public struct PointIndex: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: UInt32
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
