// SPDX-License-Identifier: MIT

/// A level of an index, from `minimumZoom` to `maximumZoom + 1`. At the last one every point stands alone.
public struct Zoom: RawRepresentable, Hashable, Comparable, Sendable, BitwiseCopyable {
    public let rawValue: Int
    @inlinable public init(rawValue: Int) { self.rawValue = rawValue }
    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
