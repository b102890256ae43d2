// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// A feature's id in comparable form: a number by its value (1 is 1.0), a string by its bytes. The number 1
/// and the string "1" differ.
public struct FeatureIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// A string's bytes after a quotation mark, an integer's digits, or another number's text as JavaScript prints it.
    private let bytes: [UInt8]

    /// Nil if the value is neither a number nor a string.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let text): bytes = [UInt8(ascii: "\"")] + text.utf8
        case .number(let number):
            let text = String(javaScript: number)
            bytes = DecimalInteger.digits(text.utf8) ?? Array(text.utf8)
        default: return nil
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an id's JSON text; nil if it is not an id.
    ///
    /// Integers are compared digit by digit, whatever their notation and length, since a double
    /// cannot distinguish those beyond 2^53.
    public init?(json text: UnsafeRawBufferPointer) {
        if let plain = Self.plain(text) {
            self.init(bytes: Array(plain))
            return
        }
        if let digits = DecimalInteger.digits(text) {
            self.init(bytes: digits)
            return
        }
        guard let value = try? JSONReader.parse(text) else { return nil }
        self.init(value)
    }

    public init?(json text: [UInt8]) {
        guard let known = text.withUnsafeBytes({ FeatureIdentifier(json: $0) }) else { return nil }
        self = known
    }

    /// The `hash` of an id's JSON text, usually without allocation; nil if it is not an id.
    package static func hash(json text: UnsafeRawBufferPointer, _ key: SipHash) -> UInt64? {
        if let plain = plain(text) { return key.hash(plain) }
        return FeatureIdentifier(json: text)?.hash(key)
    }

    /// The bytes of an id that needs no decoding: a string without escapes, or an integer written as digits.
    private static func plain(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let first = text.first, let last = text.last else { return nil }
        if first == UInt8(ascii: "\"") {
            let isPlain = text.count >= 2 && last == first && !text.contains(UInt8(ascii: "\\"))
            return isPlain ? UnsafeRawBufferPointer(rebasing: text.dropLast()) : nil
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isNegative = first == UInt8(ascii: "-")
        let unsigned = isNegative ? text.dropFirst() : text[...]
        guard let leading = unsigned.first, unsigned.count <= DecimalInteger.longest else { return nil }
        let isInteger = leading != UInt8(ascii: "0") || unsigned.count == 1 && !isNegative
        return isInteger && unsigned.allSatisfy({ digits.contains($0) }) ? text : nil
    }

    /// Reads the validated text of a JSON array of ids; nil if it is not an array of ids.
    public static func list(json text: [UInt8]) -> [FeatureIdentifier]? {
        guard let values = JSONText.elements(ofValidated: text) else { return nil }
        let identifiers = values.compactMap { FeatureIdentifier(json: $0) }
        return identifiers.count == values.count ? identifiers : nil
    }

    /// The id as JSON text, for messages.
    public var description: String {
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.first == UInt8(ascii: "\"") ? text + "\"" : text
    }

    /// Writes the id as JSON, which reads as the same id.
    package func write(into output: inout ByteWriter) {
        guard bytes.first == UInt8(ascii: "\"") else { return output.append(contentsOf: bytes) }
        bytes.dropFirst().withUnsafeBytes { output.append(json: $0) }
    }

    /// A keyed hash: nobody without the key can construct ids that collide.
    package func hash(_ key: SipHash) -> UInt64 { key.hash(bytes) }
}

extension SipHash {
    func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { hash($0) } }
}

/// Exact integers in JSON's notation, of any length that a finite double can have.
enum DecimalInteger {
    /// The most digits of a finite double.
    static let longest = 309

    /// The digits of a number that is an integer, with a minus sign if it is negative: `1000` for `1e3` and `1000.0`.
    /// Nil if the text is not a JSON number, not an integer, or beyond the range of a double.
    static func digits(_ text: some Sequence<UInt8>) -> [UInt8]? {
        guard var number = Parts(text) else { return nil }
        if number.exponent < 0 {
            let zeros = number.digits.suffix(-number.exponent)
            guard zeros.count == -number.exponent || number.digits.allSatisfy({ $0 == zero }),
                zeros.allSatisfy({ $0 == zero })
            else { return nil }
            number.digits.removeLast(zeros.count)
        }
        number.digits = Array(number.digits.drop { $0 == zero })
        guard !number.digits.isEmpty else { return [zero] }
        if number.exponent > 0 {
            guard number.digits.count + number.exponent <= longest else { return nil }
            number.digits += [UInt8](repeating: zero, count: number.exponent)
        }
        return (number.isNegative ? [UInt8(ascii: "-")] : []) + number.digits
    }

    private static let zero = UInt8(ascii: "0")

    /// A number's sign, its digits without the point, and its power of ten.
    private struct Parts {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0

        init?(_ text: some Sequence<UInt8>) {
            var rest = Array(text)[...]
            isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest.removeFirst() }
            digits = Self.takeDigits(&rest)
            guard !digits.isEmpty else { return nil }
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                let fraction = Self.takeDigits(&rest)
                digits += fraction
                exponent -= fraction.count
            }
            if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
                rest.removeFirst()
                let isDivided = rest.first == UInt8(ascii: "-")
                if isDivided || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
                let power = Self.takeDigits(&rest)
                guard !power.isEmpty else { return nil }
                // Larger powers are beyond the range of a double unless the number is 0.
                let size = power.reduce(0) { min(1 << 20, $0 * 10 + Int($1 - UInt8(ascii: "0"))) }
                exponent += isDivided ? -size : size
            }
            guard rest.isEmpty else { return nil }
        }

        private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest[digits.endIndex...]
            return Array(digits)
        }
    }
}
