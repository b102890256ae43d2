// SPDX-License-Identifier: MIT

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
