// SPDX-License-Identifier: MIT

/// A row that is a feature.
public struct CopiedRow {
    /// The GeoJSON feature.
    public let text: UnsafeRawBufferPointer
    private let parts: RowWriter.Parts

    init(text: UnsafeRawBufferPointer, parts: RowWriter.Parts) { (self.text, self.parts) = (text, parts) }

    /// Whether the text is certainly valid JSON: no part of it was copied from values of JSON types.
    public var isPlain: Bool { parts.isPlain }
    /// The text of the id: an integer or a string.
    public var identifier: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[parts.identifier]) }
    /// The text of the array of coordinates.
    public var coordinates: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[parts.coordinates])
    }
    /// The text of the object of properties.
    public var properties: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[parts.properties]) }
    /// The position in degrees.
    public var longitude: Double { parts.longitude }
    public var latitude: Double { parts.latitude }
}
