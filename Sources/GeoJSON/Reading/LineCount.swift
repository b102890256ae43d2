// SPDX-License-Identifier: MIT
import Glibc

/// Counts line ends.
enum LineCount {
    /// - Complexity: O(bytes), at about ten gigabytes per second if lines are long.
    static func of(_ text: UnsafeRawBufferPointer) -> Int {
        guard var start = text.baseAddress else { return 0 }
        let end = start + text.count
        var count = 0
        while let found = memchr(start, Int32(UInt8(ascii: "\n")), end - start) {
            count &+= 1
            start = UnsafeRawPointer(found) + 1
        }
        return count
    }
}
