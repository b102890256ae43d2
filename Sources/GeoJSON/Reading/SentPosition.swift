// SPDX-License-Identifier: MIT
import JSON

/// A position and the text that it was sent as. Valid as long as the text.
struct SentPosition {
    /// An array of two or more finite numbers.
    let text: UnsafeRawBufferPointer
    let position: Position
    /// Whether whole turns have brought the longitude within ±180, so that the text has another.
    let isWrapped: Bool

    /// The same within ±180 degrees of longitude.
    var wrapped: SentPosition { SentPosition(text: text, position: position.wrapped, isWrapped: true) }

    /// The text with the longitude that counts, to be stored. What follows the longitude stays as it was sent.
    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard isWrapped, let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return body(text) }
        var bytes = ByteWriter()
        bytes.append("[")
        bytes.append(number: position.longitude)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[comma...]))
        return bytes.withUnsafeBytes(body)
    }
}

extension Position {
    /// The same within ±180 degrees of longitude.
    var wrapped: Position { Position(longitude: FeatureRules.wrapped(longitude), latitude: latitude) }
}
