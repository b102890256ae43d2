// SPDX-License-Identifier: MIT
import JSON

/// Conversions between types, with JavaScript's results.
enum Conversion {
    /// `to-string`: null is an empty string, arrays and objects are compact JSON.
    static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): String(javaScript: number)
        case .string(let text): text
        case .array, .object: json(value)
        }
    }

    /// JSON text. An object's keys that are array indexes come first, as in JavaScript.
    static func json(_ value: JSONValue) -> String {
        switch value {
        case .array(let items): "[" + items.map(json).joined(separator: ",") + "]"
        case .object(let object):
            "{"
                + object.membersInJavaScriptOrder
                .map { "\(JSONValue.string($0.key).text):\(json($0.value))" }.joined(separator: ",") + "}"
        default: value.text
        }
    }

    /// `to-string` with a limit on the length: JSON nested in JSON strings grows with each level, because its
    /// quotes are escaped again.
    static func boundedText(_ value: JSONValue) throws(EvaluationError) -> String {
        if case .string(let text) = value { return text }
        let text = text(value)
        guard text.utf8.count <= ExpressionLimits.stringBytes else { throw tooLong }
        return text
    }

    static var tooLong: EvaluationError {
        EvaluationError("A string may have \(ExpressionLimits.stringBytes) bytes at most.")
    }

    static func boolean(_ value: JSONValue) -> Bool {
        switch value {
        case .null: false
        case .bool(let flag): flag
        case .number(let number): !(number == 0 || number.isNaN)
        case .string(let text): !text.isEmpty
        case .array, .object: true
        }
    }

    /// JavaScript's `Number(value)`; NaN if the value is not a number.
    static func number(_ value: JSONValue) -> Double {
        switch value {
        case .null: 0
        case .bool(let flag): flag ? 1 : 0
        case .number(let number): number
        case .string(let text): number(parsing: text)
        case .array: number(parsing: javaScriptText(value))
        case .object: .nan
        }
    }

    /// JavaScript's `String(value)`.
    static func javaScriptText(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        // Within an array, null is empty.
        case .array(let items):
            items.map { $0 == .null ? "" : javaScriptText($0) }.joined(separator: ",")
        case .object: "[object Object]"
        default: text(value)
        }
    }

    private static func number(parsing text: String) -> Double {
        var scalars = Substring(text).unicodeScalars
        while let first = scalars.first, isSpace(first) { scalars.removeFirst() }
        while let last = scalars.last, isSpace(last) { scalars.removeLast() }
        let trimmed = String(scalars)
        if trimmed.isEmpty { return 0 }
        if let bits = bitsOfDigit(trimmed) { return integer(trimmed.dropFirst(2), bitsOfDigit: bits) }
        switch trimmed {
        case "Infinity", "+Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: return isDecimal(trimmed) ? Double(trimmed) ?? .nan : .nan
        }
    }

    private static func bitsOfDigit(_ text: String) -> Int? {
        switch text.prefix(2) {
        case "0x", "0X": 4
        case "0o", "0O": 3
        case "0b", "0B": 1
        default: nil
        }
    }

    /// Reads an integer with a single rounding. Digits that no longer fit set the lowest bit, which is below
    /// the precision of a double.
    private static func integer(_ digits: Substring, bitsOfDigit bits: Int) -> Double {
        guard !digits.isEmpty else { return .nan }
        var (significand, exponent) = (UInt64(0), 0)
        for digit in digits {
            guard digit.isASCII, let value = digit.hexDigitValue, value >> bits == 0 else { return .nan }
            if significand >> 59 == 0 {
                significand = significand << bits | UInt64(value)
            } else {
                exponent += bits
                if value != 0 { significand |= 1 }
            }
        }
        return Double(sign: .plus, exponent: exponent, significand: Double(significand))
    }

    /// Whether the text is a decimal literal: digits with a point and an exponent, and no words.
    private static func isDecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace && scalar != "\u{85}" || scalar == "\u{feff}"
    }
}
