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

    /// Whether the server sent all values. If not, `feature(keepingFrom:)` takes the others from the stored
    /// feature.
    public var isComplete: Bool { gaps.isEmpty }

    /// The feature's GeoJSON text, if it is complete.
    public var feature: [UInt8] { template }

    /// The feature's GeoJSON text, with unchanged large values taken from the stored feature.
    ///
    /// - Parameter properties: the JSON text of the properties of the feature that the row was before. That
    ///   feature's id is `previousID` if it is not nil, else `id`.
    /// - Returns: nil if a value is missing there; then only a new copy helps (`TableFeed.copyAgain`).
    public func feature(keepingFrom properties: UnsafeRawBufferPointer) -> [UInt8]? {
        FeatureGap.fill(gaps, of: template, from: properties)
    }
}

/// A place in a feature's text where a property's value is missing.
struct FeatureGap: Sendable, Equatable {
    /// The offset at which the value belongs, in bytes from the beginning of the text.
    let offset: Int
    /// The property's name.
    let name: [UInt8]

    /// Fills the gaps with values from a stored feature's properties; returns nil if one is missing there.
    /// O(both texts).
    static func fill(
        _ gaps: [FeatureGap], of template: [UInt8], from properties: UnsafeRawBufferPointer
    ) -> [UInt8]? {
        guard !gaps.isEmpty else { return template }
        guard properties.first == UInt8(ascii: "{") else { return nil }
        var values: [[UInt8]: UnsafeRawBufferPointer] = [:]
        for (key, value) in JSONMembers(ofValidated: properties) {
            values[Array(JSONText.string(inside: key).utf8)] = value
        }
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
