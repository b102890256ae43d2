// SPDX-License-Identifier: MIT
import Rendering

/// Shows a text with the part of a message underlined.
enum Underline {
    /// - Parameter range: a range of the text's UTF-8; nil if unknown.
    static func message(_ message: String, in text: String, at range: Range<Int>?) -> String {
        let message = PrintableText.of(message)
        guard let range else { return message }
        let bytes = Array(text.utf8)
        let start = min(max(range.lowerBound, 0), bytes.count)
        let lineStart = bytes[..<start].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let lineEnd = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let end = min(max(range.upperBound, start), lineEnd)
        func columns(_ range: Range<Int>) -> Int {
            DisplayWidth.of(PrintableText.of(String(decoding: bytes[range], as: UTF8.self)))
        }
        let line = PrintableText.of(String(decoding: bytes[lineStart..<lineEnd], as: UTF8.self))
        let indent = String(repeating: " ", count: columns(lineStart..<start))
        let marks = "^" + String(repeating: "~", count: max(0, columns(start..<end) - 1))
        return "\(line)\n\(indent)\(marks)\n\(message)"
    }
}
