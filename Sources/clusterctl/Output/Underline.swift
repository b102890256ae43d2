// SPDX-License-Identifier: MIT
import JSON
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

/// Finds a value in a JSON text by the path of an expression's error.
enum JSONLocation {
    /// - Parameter key: indexes and names in brackets, such as `[1][2]` or `[2]["a"]`; empty for the whole.
    /// - Returns: the range of the value in the text's UTF-8, or of the innermost one that exists on the
    ///   path; nil if the text is not JSON.
    static func range(of key: String, in text: String) -> Range<Int>? {
        guard let document = try? JSONDocument(Array(text.utf8)) else { return nil }
        return document.withRoot { root in
            var element = root
            for step in steps(key) {
                guard let next = child(of: element, step) else { break }
                element = next
            }
            return element.rawRange
        }
    }

    private static func child(of element: JSONElement, _ step: String) -> JSONElement? {
        switch element.kind {
        case .array:
            guard let index = Int(step) else { return nil }
            return element.elements.enumerated().first { $0.offset == index }?.element
        case .object: return element.members.first { $0.key.string?.hasSameBytes(as: step) ?? false }?.value
        default: return nil
        }
    }

    /// The texts between the brackets, without quotation marks.
    private static func steps(_ key: String) -> [String] {
        key.split(separator: "[").map { part in
            String(part.prefix { $0 != "]" }).filter { $0 != "\"" }
        }
    }
}
