// SPDX-License-Identifier: MIT
import CSimdjson

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
