// SPDX-License-Identifier: MIT
import JSON

/// What this module uses of `JSON`, for slices of messages. The memory is lent for the duration of each call only.
extension ByteWriter {
    /// Appends a text as a JSON string. Databases with the encoding SQL_ASCII may contain any bytes; those that are
    /// not UTF-8 are replaced.
    mutating func append(text: ArraySlice<UInt8>) {
        let isUTF8 = text.withUnsafeBytes { bytes in
            guard JSONText.isUTF8(bytes) else { return false }
            append(json: bytes)
            return true
        }
        if !isUTF8 { append(json: String(decoding: text, as: UTF8.self)) }
    }
}

extension JSONText {
    /// A number's value; nil if the text is not a JSON number.
    static func number(_ text: ArraySlice<UInt8>) -> Double? { number(text.span) }
}
