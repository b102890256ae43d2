// SPDX-License-Identifier: MIT

/// Why a text is not JSON that is accepted here.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case syntax
        /// Nested more deeply than the limit.
        case depth
        /// A number beyond what a double holds.
        case number
        /// Bytes that are not UTF-8.
        case encoding
        /// A string that does not end, or an escape or control character that JSON does not have.
        case string
        case empty
        case size
    }

    public let kind: Kind
    /// Where in the text, in bytes.
    public let offset: Int
    /// For people.
    public let message: String

    public init(kind: Kind, offset: Int, message: String) {
        self.kind = kind
        self.offset = offset
        self.message = message
    }

    public var description: String { message }
}
