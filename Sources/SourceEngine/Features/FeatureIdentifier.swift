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
        if let plain = plain(text) { return key.hash(plain.bytes) }
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
    package func hash(_ key: SipHash) -> UInt64 { key.hash(bytes.span.bytes) }
}
