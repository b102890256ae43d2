// SPDX-License-Identifier: MIT

/// Reads numbers of up to eight characters in one word instead of digit by digit. The numbers of a column
/// differ in length from row to row, and a processor would mispredict the end of each.
enum DecimalWord {
    private static let zeros: UInt64 = 0x3030_3030_3030_3030
    private static let dots: UInt64 = 0x2e2e_2e2e_2e2e_2e2e

    /// The value of digits with an optional point between them and an optional sign; nil for other texts,
    /// valid or not.
    @inline(__always) static func value(of text: UnsafeRawBufferPointer) -> Double? {
        guard text.count > 0, text.count <= 8, let base = text.baseAddress else { return nil }
        let isNegative = text[0] == UInt8(ascii: "-")
        let sign = isNegative ? 1 : 0
        var count = text.count &- sign
        guard count > 0 else { return nil }
        let start = base + sign
        // The last character is in the highest byte, so that each digit's value depends on its position in
        // the word.
        var word = load(start, count)
        let point = zeroBytes(word ^ dots)
        var fraction = 0
        if point != 0 {
            let before = point.trailingZeroBitCount & ~7
            fraction = 7 &- before / 8
            count &-= 1
            guard fraction > 0, fraction < count else { return nil }
            let low = word & ((1 &<< UInt64(before)) &- 1)
            let high = word & (.max &<< UInt64(before &+ 8))
            word = high | low &<< 8
        }
        let first = start.load(as: UInt8.self)
        // A number may begin with a zero only if that is its whole integer part.
        if first == UInt8(ascii: "0"), count &- fraction > 1 { return nil }
        let padding = UInt64(8 &- count) &* 8
        // `&<<` by a whole word would shift by nothing, but there is at least one digit.
        word |= zeros & ((1 &<< padding) &- 1)
        guard isAllDigits(word) else { return nil }
        let value = Double(digits(word)) / ShortDecimal.powers[fraction]
        return isNegative ? -value : value
    }

    /// Loads up to eight bytes, the last of them into the highest byte of the word, zeros into the lowest.
    @inline(__always) private static func load(_ start: UnsafeRawPointer, _ count: Int) -> UInt64 {
        let padding = UInt64(8 &- count) &* 8
        if count >= 4 {
            let low = UInt64(UInt32(littleEndian: start.loadUnaligned(as: UInt32.self)))
            let high = UInt64(
                UInt32(littleEndian: start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)))
            return (low | high &<< (UInt64(count &- 4) &* 8)) &<< padding
        }
        let first = UInt64(start.load(as: UInt8.self))
        let middle = UInt64(start.load(fromByteOffset: count / 2, as: UInt8.self))
        let last = UInt64(start.load(fromByteOffset: count &- 1, as: UInt8.self))
        return (first | middle &<< (UInt64(count / 2) &* 8) | last &<< (UInt64(count &- 1) &* 8)) &<< padding
    }

    /// Marks zero bytes: the lowest bit set is in the lowest zero byte; no bit is set if there is none.
    @inline(__always) private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    @inline(__always) private static func isAllDigits(_ word: UInt64) -> Bool {
        let tens: UInt64 = 0xf0f0_f0f0_f0f0_f0f0
        return (word & tens) | ((word &+ 0x0606_0606_0606_0606) & tens) &>> 4 == 0x3333_3333_3333_3333
    }

    /// The number of eight digits: adjacent digits are combined to pairs, pairs to fours, and these to eight.
    @inline(__always) private static func digits(_ word: UInt64) -> Int32 {
        let ones = word &- zeros
        let pairs = ones &* 10 &+ ones &>> 8
        let even = (pairs & 0x0000_00ff_0000_00ff) &* 0x000f_4240_0000_0064
        let odd = (pairs &>> 16 & 0x0000_00ff_0000_00ff) &* 0x0000_2710_0000_0001
        return Int32(truncatingIfNeeded: (even &+ odd) &>> 32)
    }
}
