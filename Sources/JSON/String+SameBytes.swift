// SPDX-License-Identifier: MIT
import Glibc

extension String {
    /// Whether two strings have the same UTF-8 bytes. O(length).
    @inlinable public func hasSameBytes(as other: String) -> Bool {
        if isHeldAlike(other) { return true }
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        // Strings that are not even equivalent have different bytes, and short strings are compared without
        // accessing their bytes.
        if count < 16, self != other { return false }
        return bytesAreSame(as: other)
    }

    /// Whether two strings have identical representations. If so, they have the same bytes: both refer to the
    /// same memory, or both are short, as keys are, and stored inline. If false, nothing is known.
    @inlinable @inline(__always) func isHeldAlike(_ other: String) -> Bool {
        guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
        return unsafeBitCast(self, to: (UInt64, UInt64).self)
            == unsafeBitCast(other, to: (UInt64, UInt64).self)
    }

    @usableFromInline func bytesAreSame(as other: String) -> Bool {
        var (first, second) = (self, other)
        return first.withUTF8 { first in
            second.withUTF8 { second in
                guard let start = first.baseAddress, let other = second.baseAddress else { return true }
                return memcmp(start, other, first.count) == 0
            }
        }
    }
}
