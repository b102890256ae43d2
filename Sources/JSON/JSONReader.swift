// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// Reads JSON texts (RFC 8259) into trees. If a text is large or read often, a `JSONParser`'s tape is cheaper.
public enum JSONReader {
    /// The maximum nesting of arrays and objects in the protocol.
    public static let maximumDepth = 64

    /// Parses a whole text; of members with equal keys the last counts.
    public static func parse(
        _ text: UnsafeRawBufferPointer, maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        let parser = JSONParser()
        return try parser.parse(text, maximumDepth).root.value
    }

    public static func parse(
        _ text: [UInt8], maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        try text.span.bytes.withUnsafeBytes { (bytes) throws(JSONError) in
            try parse(bytes, maximumDepth: maximumDepth)
        }
    }

    public static func parse(_ text: String, maximumDepth: Int = maximumDepth) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), maximumDepth: maximumDepth)
    }
}

/// Reads the validated text of a single value.
public enum JSONText {
    /// Whether bytes are UTF-8. O(bytes), at a few gigabytes per second.
    public static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress else { return true }
        return csj_is_utf8(start.assumingMemoryBound(to: CChar.self), text.count) != 0
    }

    /// A number's value; nil if the text is not a number.
    public static func number(_ text: UnsafeRawBufferPointer) -> Double? {
        guard let start = text.baseAddress else { return nil }
        var value = 0.0
        let good = csj_read_number(start.assumingMemoryBound(to: CChar.self), text.count, &value)
        return good != 0 ? value : nil
    }

    /// The same of a span.
    public static func number(_ text: Span<UInt8>) -> Double? { text.withUnsafeBytes { number($0) } }

    /// Decodes a string from the text between its quotation marks.
    public static func string(inside text: UnsafeRawBufferPointer) -> String {
        guard let start = text.baseAddress, text.contains(UInt8(ascii: "\\")) else {
            return String(decoding: text, as: UTF8.self)
        }
        return String(unsafeUninitializedCapacity: text.count) { target in
            target.withMemoryRebound(to: CChar.self) { target in
                guard let out = target.baseAddress else { return 0 }
                return csj_unescape(start.assumingMemoryBound(to: CChar.self), text.count, out)
            }
        }
    }

    /// The UTF-8 of a string, decoded from the text between its quotation marks.
    public static func bytes(inside text: UnsafeRawBufferPointer) -> [UInt8] {
        text.contains(UInt8(ascii: "\\")) ? Array(string(inside: text).utf8) : Array(text)
    }
}

/// Why a text is not acceptable JSON.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case syntax
        /// Nesting deeper than the limit.
        case depth
        /// A number beyond what a double holds.
        case number
        /// Bytes that are not UTF-8.
        case encoding
        /// An unterminated string, or an escape or control character that JSON does not allow.
        case string
        case empty
        case size
    }

    public let kind: Kind
    /// The offset in the text, in bytes.
    public let offset: Int
    /// A description for people.
    public let message: String

    public init(kind: Kind, offset: Int, message: String) {
        self.kind = kind
        self.offset = offset
        self.message = message
    }

    public var description: String { message }
}

/// Either the text was not JSON, or `body` threw.
public enum JSONTapeError<Failure: Error>: Error {
    case json(JSONError)
    case body(Failure)
}

/// Owns a text and its values, for use beyond the scope of a tape.
public final class JSONDocument {
    private let text: [UInt8]
    private let parser = JSONParser()

    public init(_ text: [UInt8], maximumDepth: Int = JSONReader.maximumDepth) throws(JSONError) {
        self.text = text
        _ = try text.span.bytes.withUnsafeBytes { (bytes) throws(JSONError) in try parser.parse(bytes, maximumDepth) }
    }

    /// Passes the root value to `body`; it is valid during the call.
    public func withRoot<Result>(_ body: (JSONElement) throws -> Result) rethrows -> Result {
        try text.withUnsafeBytes { bytes in
            try body(JSONTape(text: bytes, entries: parser.lastEntries, hasLoneSurrogates: false).root)
        }
    }
}

/// The values of a text that a `JSONParser` has read; valid only while the parser lends it.
///
/// Invariant: `entries` are a complete tape as written by the shim, and every range in it lies within `text`.
public struct JSONTape {
    let text: UnsafeRawBufferPointer
    let entries: UnsafeBufferPointer<csj_entry>
    /// Whether any string contains a lone surrogate.
    public let hasLoneSurrogates: Bool

    public var root: JSONElement { JSONElement(tape: self, index: 0) }
}
