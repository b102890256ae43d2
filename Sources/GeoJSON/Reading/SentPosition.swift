// SPDX-License-Identifier: MIT
import JSON

/// A position with its text as sent. Valid as long as the text.
struct SentPosition {
    /// An array of two or more finite numbers.
    let text: UnsafeRawBufferPointer
    let position: GeometryPosition
    /// Whether the longitude was wrapped, so that the text contains a different one.
    let isWrapped: Bool

    /// The position with its longitude wrapped to ±180 degrees.
    var wrapped: SentPosition { SentPosition(text: text, position: position.wrapped, isWrapped: true) }

    /// The text to be stored, with the wrapped longitude. The rest stays as sent.
    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard isWrapped, let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return body(text) }
        var bytes = ByteWriter()
        bytes.append("[")
        bytes.append(number: position.longitude)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[comma...]))
        return bytes.withUnsafeBytes(body)
    }
}

extension GeometryPosition {
    /// The position with its longitude wrapped to ±180 degrees.
    var wrapped: GeometryPosition { GeometryPosition(longitude: FeatureRules.wrapped(longitude), latitude: latitude) }
}
