// SPDX-License-Identifier: MIT

/// Reads numbers with few digits and no exponent, as most are. The digits and the power of ten by which they
/// are divided are both exact as doubles, so that one division rounds correctly (Clinger, "How to Read
/// Floating Point Numbers Accurately", 1990).
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
