// SPDX-License-Identifier: MIT

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
        var place = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { place = 1 }
        let start = place
        var digits: Int64 = 0
        guard text.count - start <= mostDigits + 1, readDigits(text, &place, &digits) else { return nil }
        // A number may begin with a zero only if that is its whole integer part.
        if text[start] == UInt8(ascii: "0"), place - start > 1 { return nil }
        var value = Double(digits)
        if place < text.count {
            guard text[place] == UInt8(ascii: ".") else { return nil }
            place += 1
            let fraction = place
            guard readDigits(text, &place, &digits), place == text.count else { return nil }
            value = Double(digits) / powers[place - fraction]
        } else if place - start > mostDigits {
            return nil
        }
        return isNegative ? -value : value
    }

    /// Reads digits; returns false if there are none.
    @inline(__always) private static func readDigits(
        _ text: UnsafeRawBufferPointer, _ place: inout Int, _ digits: inout Int64
    ) -> Bool {
        let start = place
        while place < text.count {
            let digit = text[place] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            digits = digits &* 10 &+ Int64(digit)
            place &+= 1
        }
        return place > start
    }

    /// Powers of ten, indexed by exponent.
    static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}
