// SPDX-License-Identifier: MIT
import JSON

/// A JSON value as the server sent it: bytes that are parsed only on request.
public struct Answer: Sendable, Equatable {
    /// The value's own text, UTF-8.
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text on one line and its end: features keep the line breaks with which they were sent, between tokens.
    package var line: [UInt8] {
        bytes.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
            + [UInt8(ascii: "\n")]
    }

    /// The value as a tree. O(length).
    public func value() throws(JSONError) -> JSONValue {
        try JSONReader.parse(bytes, maximumDepth: Answer.maximumDepth)
    }

    /// A feature's properties may be nested as deeply as the protocol allows, and an answer nests them further.
    static let maximumDepth = JSONReader.maximumDepth + 16
}
