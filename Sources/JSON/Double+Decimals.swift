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
        var pointOffset = 0
        var (hasPoint, exponent) = (false, 0)
        let text = Array(magnitude.description.utf8)
        let end = text.firstIndex(of: UInt8(ascii: "e")) ?? text.count
        if end < text.count { exponent = Int(String(decoding: text[(end + 1)...], as: UTF8.self)) ?? 0 }
        for byte in text[..<end] {
            if byte == UInt8(ascii: ".") {
                hasPoint = true
            } else {
                digits.append(byte - UInt8(ascii: "0"))
                if !hasPoint { pointOffset += 1 }
            }
        }
        pointOffset += exponent
        let kept = pointOffset + decimals
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
                pointOffset += 1
            }
        }
        let mantissa = digits.isEmpty ? "0" : String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        let number = Double("\(mantissa)e\(pointOffset - digits.count)") ?? magnitude
        return Double(signOf: self, magnitudeOf: number)
    }

    /// Powers of ten that are exact as doubles.
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
    ]
}
