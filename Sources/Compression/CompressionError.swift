// SPDX-License-Identifier: MIT

/// Why bytes could not be compressed or inflated.
public enum CompressionError: Error, Sendable, Equatable {
    /// The bytes are not what their format demands; the message is zlib's or ours.
    case damaged(String)
    /// The compressed bytes end before their content does.
    case truncated
    /// The content is larger than the limit, in bytes; nothing beyond that was inflated.
    case limitExceeded(Int)
    case outOfMemory

    /// For people; follows what was being read.
    public var message: String {
        switch self {
        case .damaged(let message): message
        case .truncated: "it ends early"
        case .limitExceeded(let limit): "it holds more than \(limit) bytes"
        case .outOfMemory: "out of memory"
        }
    }
}
