// SPDX-License-Identifier: MIT

/// A checksum of 64 bits for large blocks of memory, about ten times as fast as CRC-32.
///
/// It detects damage, not forgery. A change of one word of eight bytes always changes the checksum: each step
/// is reversible, so different words never lead to the same state. Any other change is missed once in 2⁶⁴
/// cases. The checksum depends on the machine's byte order.
public enum BlockChecksum {
    private static let factor: UInt64 = 0x9e37_79b9_7f4a_7c15

    /// - Complexity: O(bytes), about as fast as memory is read.
    public static func of(_ bytes: RawSpan) -> UInt64 {
        // Four independent sums: the processor works on all of them at once.
        var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
        let whole = bytes.byteCount & ~31
        var offset = 0
        // Each load is within the first `whole` bytes.
        while offset < whole {
            a = step(a, bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
            b = step(b, bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 8, as: UInt64.self))
            c = step(c, bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 16, as: UInt64.self))
            d = step(d, bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 24, as: UInt64.self))
            offset &+= 32
        }
        var sum = step(step(step(step(UInt64(bytes.byteCount), a), b), c), d)
        for offset in whole..<bytes.byteCount {
            sum = step(sum, UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)))
        }
        return sum ^ (sum &>> 32)
    }

    /// The checksum of each block of the bytes. O(bytes).
    public static func list(of bytes: RawSpan, blockSize: Int) -> [UInt64] {
        var sums: [UInt64] = []
        for start in stride(from: 0, to: bytes.byteCount, by: blockSize) {
            sums.append(of(bytes.extracting(start..<min(start + blockSize, bytes.byteCount))))
        }
        return sums
    }

    @inline(__always) private static func step(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (sum ^ word) &* factor
        return mixed ^ (mixed &>> 29)
    }
}
