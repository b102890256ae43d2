// SPDX-License-Identifier: MIT
import JSON

/// A cell of a row. Valid as long as the row's text.
struct TableCell {
    /// Without the quotation marks around it.
    var text: UnsafeRawBufferPointer
    /// Whether it contains doubled quotation marks.
    var hasDoubledQuotes: Bool
}

/// The type of a cell's text.
enum CellKind {
    case empty, number, text
    case bool(Bool)

    @inline(__always) init(_ cell: TableCell, staysText: Bool) {
        let text = cell.text
        guard let first = text.first else {
            self = .empty
            return
        }
        if staysText || cell.hasDoubledQuotes {
            self = .text
        } else if first == UInt8(ascii: "-") || (first >= 48 && first <= 57) {
            self = Self.isNumber(text) ? .number : .text
        } else if first == UInt8(ascii: "t"), text.elementsEqual("true".utf8) {
            self = .bool(true)
        } else if first == UInt8(ascii: "f"), text.elementsEqual("false".utf8) {
            self = .bool(false)
        } else {
            self = .text
        }
    }

    var isNumber: Bool { if case .number = self { true } else { false } }

    /// Whether a text is a number by RFC 8259's grammar, and finite.
    static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var at = text.first == UInt8(ascii: "-") ? 1 : 0
        func digits() -> Int {
            let start = at
            while at < text.count, text[at] &- 48 <= 9 { at &+= 1 }
            return at - start
        }
        let start = at
        let whole = digits()
        guard whole > 0, whole == 1 || text[start] != 48 else { return false }
        if at < text.count, text[at] == UInt8(ascii: ".") {
            at += 1
            guard digits() > 0 else { return false }
        }
        if at == text.count { return whole <= 300 || JSONText.number(text) != nil }
        guard text[at] | 0x20 == UInt8(ascii: "e") else { return false }
        at += 1
        if at < text.count, text[at] == UInt8(ascii: "-") || text[at] == UInt8(ascii: "+") { at += 1 }
        return digits() > 0 && at == text.count && JSONText.number(text) != nil
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without those at both ends that satisfy a predicate.
    @inline(__always) func trimmed(
        _ isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") }
    ) -> UnsafeRawBufferPointer {
        var (start, end) = (0, count)
        while start < end, isSpace(self[start]) { start += 1 }
        while end > start, isSpace(self[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }
}
