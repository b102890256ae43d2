// SPDX-License-Identifier: MIT

/// Why bytes could not be compressed or inflated.
public enum CompressionError: Error, Sendable, Equatable {
    /// The bytes violate their format. The message is zlib's or this module's.
    case damaged(String)
    /// The compressed bytes end before their content is complete.
    case truncated
    /// The content is larger than the limit in bytes; nothing beyond the limit was inflated.
    case limitExceeded(Int)
    case outOfMemory

    /// A message for people, to be written after the name of the input.
    public var message: String {
        switch self {
        case .damaged(let message): message
        case .truncated: "it ends early"
        case .limitExceeded(let limit): "it holds more than \(limit) bytes"
        case .outOfMemory: "out of memory"
        }
    }
}
