// SPDX-License-Identifier: MIT

/// The number of rows that are not features, by reason.
public struct SkippedRows: Sendable, Equatable {
    public enum Reason: String, Sendable, CaseIterable {
        /// The geometry or a coordinate is NULL, or the geometry is empty.
        case noPosition
        case notAPoint
        /// A coordinate is infinite or not a number.
        case notFinite
        /// The longitude is beyond ±180 or the latitude beyond ±90 degrees.
        case outOfRange
        /// The geometry has an SRID other than 4326, 3857 and none.
        case otherReference
        /// The feature's text is larger than a feature may be.
        case tooLarge
        /// The row has no value in the column of its id.
        case noID
    }

    private var counts = [Int](repeating: 0, count: Reason.allCases.count)

    public init() {}

    public subscript(reason: Reason) -> Int {
        get { counts[Self.index(reason)] }
        set { counts[Self.index(reason)] = newValue }
    }

    public var total: Int { counts.reduce(0, +) }

    public static func += (left: inout SkippedRows, right: SkippedRows) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
    }

    private static func index(_ reason: Reason) -> Int { Reason.allCases.firstIndex(of: reason) ?? 0 }
}
