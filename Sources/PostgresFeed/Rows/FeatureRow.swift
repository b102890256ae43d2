// SPDX-License-Identifier: MIT
import JSON

/// A transaction's change to one row, or to all.
public enum TableChange: Sendable, Equatable {
    /// The row is a feature, new or changed.
    case put(FeatureRow)
    /// The row was deleted, or is no longer a feature. `id` is JSON text.
    case remove(id: [UInt8])
    /// All rows were deleted (TRUNCATE).
    case clear
}

/// A row that is a feature.
public struct FeatureRow: Sendable, Equatable {
    /// The id as JSON text: an integer or a string.
    public let id: [UInt8]
    /// The id that the row had before; nil if it has not changed.
    public let previousID: [UInt8]?
    /// The feature's GeoJSON text without the values that the server did not repeat.
    let template: [UInt8]
    /// The missing values, in the order of the text.
    let gaps: [FeatureGap]

    /// Whether the server sent all values. If not, `feature(keepingFrom:)` takes the others from the stored feature.
    public var isComplete: Bool { gaps.isEmpty }

    /// The feature's GeoJSON text, if it is complete.
    public var feature: [UInt8] { template }

    /// The text of the properties in such a feature's text.
    public static func properties(of feature: [UInt8]) -> [UInt8]? {
        JSONText.members(ofValidated: feature[...])?[Array("properties".utf8)]
    }

    /// The feature's GeoJSON text, with unchanged large values taken from the stored feature.
    ///
    /// - Parameter properties: the JSON text of the properties of the feature that the row was before. That
    ///   feature's id is `previousID` if it is not nil, else `id`.
    /// - Returns: nil if a value is missing there; then only a new copy helps (`TableFeed.copyAgain`).
    public func feature(keepingFrom properties: [UInt8]) -> [UInt8]? {
        guard !gaps.isEmpty else { return template }
        guard let values = JSONText.members(ofValidated: properties[...]) else { return nil }
        var filled: [UInt8] = []
        var end = 0
        for gap in gaps {
            guard let value = values[gap.name] else { return nil }
            filled += template[end..<gap.offset]
            filled += value
            end = gap.offset
        }
        return filled + template[end...]
    }
}

/// A property's value that is missing in a feature's text.
struct FeatureGap: Sendable, Equatable {
    /// The offset at which the value belongs, in bytes from the beginning of the text.
    let offset: Int
    /// The property's name.
    let name: [UInt8]
}

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

    private var counts: [Reason: Int] = [:]

    public init() {}

    public subscript(reason: Reason) -> Int {
        get { counts[reason, default: 0] }
        set { counts[reason] = newValue == 0 ? nil : newValue }
    }

    public var total: Int { counts.values.reduce(0, +) }

    public static func += (left: inout SkippedRows, right: SkippedRows) {
        left.counts.merge(right.counts, uniquingKeysWith: +)
    }
}
