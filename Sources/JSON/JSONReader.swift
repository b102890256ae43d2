// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// Reads JSON texts (RFC 8259) into trees. If a text is large or read often, a `JSONParser`'s tape is
/// cheaper.
public enum JSONReader {
    /// The maximum nesting of arrays and objects in the protocol.
    public static let maximumDepth = 64

    /// Parses a whole text; of members with equal keys the last counts.
    public static func parse(
        _ text: LentBytes, maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        let parser = JSONParser()
        return try parser.parse(text, maximumDepth).root.value
    }

    public static func parse(
        _ text: [UInt8], maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        try text.lend { (text) throws(JSONError) in try parse(text, maximumDepth: maximumDepth) }
    }

    public static func parse(
        _ text: String, maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), maximumDepth: maximumDepth)
    }
}

/// Reads the validated text of a single value.
public enum JSONText {
    /// Whether bytes are UTF-8. O(bytes), at a few gigabytes per second.
    public static func isUTF8(_ text: LentBytes) -> Bool {
        guard let start = text.raw.baseAddress else { return true }
        return csj_is_utf8(start.assumingMemoryBound(to: CChar.self), text.count) != 0
    }

    /// A number's value; nil if the text is not a number.
    public static func number(_ text: LentBytes) -> Double? {
        guard let start = text.raw.baseAddress else { return nil }
        var value = 0.0
        let good = csj_read_number(start.assumingMemoryBound(to: CChar.self), text.count, &value)
        return good != 0 ? value : nil
    }

    /// Decodes a string from the text between its quotation marks.
    public static func string(inside text: LentBytes) -> String {
        guard let start = text.raw.baseAddress, text.find(UInt8(ascii: "\\")) != nil else {
            return text.string
        }
        return String(unsafeUninitializedCapacity: text.count) { target in
            target.withMemoryRebound(to: CChar.self) { target in
                guard let out = target.baseAddress else { return 0 }
                return csj_unescape(start.assumingMemoryBound(to: CChar.self), text.count, out)
            }
        }
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
        _ = try text.lend { (text) throws(JSONError) in try parser.parse(text, maximumDepth) }
    }

    /// Passes the root value to `body`; it is valid during the call.
    public func withRoot<Result, Failure: Error>(
        _ body: (JSONElement) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try text.lend { (text) throws(Failure) in
            try body(JSONTape(text: text, entries: parser.lastEntries, hasLoneSurrogates: false).root)
        }
    }
}
