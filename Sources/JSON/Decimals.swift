// SPDX-License-Identifier: MIT

/// Converts whole numbers to decimal digits, eight at a time in one word.
@usableFromInline enum Decimals {
    /// The text of eight digits 0.
    @usableFromInline static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The eight digits of a number below 10^8, one per byte, the first in the lowest byte, as values rather
    /// than text.
    @inlinable @inline(__always) static func eight(_ number: UInt64) -> UInt64 {
        // Divides into halves, then quarters, then digits, in parallel lanes. The products equal the
        // quotients by 100 and 10 for such small dividends.
        let halves = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = ((halves &* 10_486) &>> 20) & 0x0000_007F_0000_007F
        let pairs = hundreds | (halves &- 100 &* hundreds) &<< 16
        let tens = ((pairs &* 103) &>> 10) & 0x000F_000F_000F_000F
        return tens | (pairs &- 10 &* tens) &<< 8
    }
}
