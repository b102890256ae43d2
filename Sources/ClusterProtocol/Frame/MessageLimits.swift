// SPDX-License-Identifier: MIT

/// Limits on the sizes of messages.
public enum MessageLimits {
    /// The size in bytes of a frame's prefix: a flag, and a length in 32 bits.
    public static let prefixLength = 5
    /// The maximum size in bytes of a message to the server, both as sent and as inflated.
    public static let maximumMessageBytes = 16 << 20
    /// The maximum size of an answer in bytes.
    public static let maximumAnswerBytes = 64 << 20
}
