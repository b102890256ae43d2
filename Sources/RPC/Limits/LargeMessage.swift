// SPDX-License-Identifier: MIT

/// Limits on reading large messages, for all transports.
package enum LargeMessage {
    /// Messages from this size in bytes would block the loop for hundreds of microseconds or more.
    package static let leastBytes = 256 << 10
    /// The maximum memory that a message uses while it is read, for each of its bytes.
    package static let memoryPerByte = 12
    /// The maximum number of values in a message: each uses tens of bytes when parsed.
    package static let mostValues = 3 << 20

    /// Whether a text may have more values than may be read. O(length), at a few gigabytes per second.
    package static func hasTooManyValues(_ text: UnsafeRawBufferPointer) -> Bool {
        // A value takes at least two bytes, including the mark before it.
        text.count > 2 * mostValues && valuesAtMost(text) > mostValues
    }

    /// An upper bound on the number of values in a text: the number of marks before values.
    private static func valuesAtMost(_ text: UnsafeRawBufferPointer) -> Int {
        var count = 1
        for byte in text {
            let isMark = byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
            count &+= isMark ? 1 : 0
        }
        return count
    }
}
