// SPDX-License-Identifier: MIT

/// What bounds the reading of large messages, whichever transport they come by.
package enum LargeMessage {
    /// Messages from this size on would hold the loop up for some hundred microseconds or more.
    package static let leastBytes = 256 << 10
    /// What a message takes of memory while it is read, at most, for each of its bytes.
    package static let memoryPerByte = 12
    /// The most values of a message: parsed, each takes some tens of bytes.
    package static let mostValues = 3 << 20

    /// Whether a text can have more values than may be read. O(length), some gigabytes a second.
    package static func hasTooManyValues(_ text: UnsafeRawBufferPointer) -> Bool {
        // A value takes two bytes at least, with the mark before it.
        text.count > 2 * mostValues && valuesAtMost(text) > mostValues
    }

    /// How many values a text can have, by the marks before them.
    private static func valuesAtMost(_ text: UnsafeRawBufferPointer) -> Int {
        var count = 1
        for byte in text {
            let isMark = byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
            count &+= isMark ? 1 : 0
        }
        return count
    }
}
