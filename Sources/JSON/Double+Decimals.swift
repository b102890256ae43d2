// SPDX-License-Identifier: MIT

extension Double {
    /// Rounds to the number whose shortest decimal text has at most `decimals` decimals and is nearest to
    /// this number's shortest decimal text; halves round away from zero. So 1.005 with two decimals is 1.01,
    /// although the nearest double is slightly less than 1.005.
    ///
    /// - Parameter decimals: 0 or more. A number with no more decimals than that is returned unchanged.
    public func rounded(decimals: Int) -> Double {
        guard isFinite, decimals < Self.powers.count else { return self }
        let power = Self.powers[Swift.max(0, decimals)]
        let scaled = magnitude * power
        // Here the error of the product is less than 2^-13, which cannot change the direction of rounding.
        let whole = scaled.rounded(.down)
        if scaled < 0x1p40, abs(scaled - whole - 0.5) > 0x1p-10 {
            // Both operands are exact, so that their quotient is the double nearest to the decimal number.
            return Double(signOf: self, magnitudeOf: (scaled - whole > 0.5 ? whole + 1 : whole) / power)
        }
        return roundedByDigits(Swift.max(0, decimals))
    }

    private func roundedByDigits(_ decimals: Int) -> Double {
        var digits: [UInt8] = []
        // The number of digits before the decimal point; negative for zeros after it.
        var pointPlace = 0
        var (hasPoint, exponent) = (false, 0)
        let text = Array(magnitude.description.utf8)
        let end = text.firstIndex(of: UInt8(ascii: "e")) ?? text.count
        if end < text.count { exponent = Int(String(decoding: text[(end + 1)...], as: UTF8.self)) ?? 0 }
        for byte in text[..<end] {
            if byte == UInt8(ascii: ".") {
                hasPoint = true
            } else {
                digits.append(byte - UInt8(ascii: "0"))
                if !hasPoint { pointPlace += 1 }
            }
        }
        pointPlace += exponent
        let kept = pointPlace + decimals
        guard kept < digits.count else { return self }
        guard kept >= 0 else { return Double(signOf: self, magnitudeOf: 0) }
        let goesUp = digits[kept] >= 5
        digits.removeSubrange(kept...)
        if goesUp {
            var offset = kept - 1
            while offset >= 0, digits[offset] == 9 {
                digits[offset] = 0
                offset -= 1
            }
            if offset >= 0 {
                digits[offset] += 1
            } else {
                digits.insert(1, at: 0)
                pointPlace += 1
            }
        }
        let mantissa =
            digits.isEmpty ? "0" : String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        let number = Double("\(mantissa)e\(pointPlace - digits.count)") ?? magnitude
        return Double(signOf: self, magnitudeOf: number)
    }

    /// Powers of ten that are exact as doubles.
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
    ]
}

/// Reads numbers with few digits and no exponent, as most are. The digits and the power of ten by which they are
/// divided are both exact as doubles, so that one division rounds correctly (Clinger, "How to Read Floating Point
/// Numbers Accurately", 1990).
enum ShortDecimal {
    /// More digits may not be exact as a double.
    private static let mostDigits = 15

    /// The value; nil if the text has any other form, valid or not.
    @inline(__always) static func value(of text: UnsafeRawBufferPointer) -> Double? {
        DecimalWord.value(of: text) ?? general(text)
    }

    private static func general(_ text: UnsafeRawBufferPointer) -> Double? {
        var offset = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { offset = 1 }
        let start = offset
        var digits: Int64 = 0
        guard text.count - start <= mostDigits + 1, readDigits(text, &offset, &digits) else { return nil }
        // A number may begin with a zero only if that is its whole integer part.
        if text[start] == UInt8(ascii: "0"), offset - start > 1 { return nil }
        var value = Double(digits)
        if offset < text.count {
            guard text[offset] == UInt8(ascii: ".") else { return nil }
            offset += 1
            let fraction = offset
            guard readDigits(text, &offset, &digits), offset == text.count else { return nil }
            value = Double(digits) / powers[offset - fraction]
        } else if offset - start > mostDigits {
            return nil
        }
        return isNegative ? -value : value
    }

    /// Reads digits; returns false if there are none.
    @inline(__always) private static func readDigits(
        _ text: UnsafeRawBufferPointer, _ offset: inout Int, _ digits: inout Int64
    ) -> Bool {
        let start = offset
        while offset < text.count {
            let digit = text[offset] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            digits = digits &* 10 &+ Int64(digit)
            offset &+= 1
        }
        return offset > start
    }

    /// Powers of ten, indexed by exponent.
    static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}

/// Reads numbers of up to eight characters in one word instead of digit by digit. The numbers of a column differ
/// in length from row to row, and a processor would mispredict the end of each.
enum DecimalWord {
    private static let zeros: UInt64 = 0x3030_3030_3030_3030
    private static let dots: UInt64 = 0x2e2e_2e2e_2e2e_2e2e

    /// The value of digits with an optional point between them and an optional sign; nil for other texts, valid
    /// or not.
    @inline(__always) static func value(of text: UnsafeRawBufferPointer) -> Double? {
        guard text.count > 0, text.count <= 8, let base = text.baseAddress else { return nil }
        let isNegative = text[0] == UInt8(ascii: "-")
        let sign = isNegative ? 1 : 0
        var count = text.count &- sign
        guard count > 0 else { return nil }
        let start = base + sign
        // The last character is in the highest byte, so that each digit's value depends on its position in the word.
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

/// Converts whole numbers to decimal digits, eight at a time in one word.
@usableFromInline enum Decimals {
    /// The text of eight digits 0.
    @usableFromInline static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The eight digits of a number below 10^8, one per byte, the first in the lowest byte, as values rather than
    /// text.
    @inlinable @inline(__always) static func eight(_ number: UInt64) -> UInt64 {
        // Divides into halves, then quarters, then digits, in parallel lanes. The products equal the quotients by
        // 100 and 10 for such small dividends.
        let halves = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = ((halves &* 10_486) &>> 20) & 0x0000_007F_0000_007F
        let pairs = hundreds | (halves &- 100 &* hundreds) &<< 16
        let tens = ((pairs &* 103) &>> 10) & 0x000F_000F_000F_000F
        return tens | (pairs &- 10 &* tens) &<< 8
    }
}
