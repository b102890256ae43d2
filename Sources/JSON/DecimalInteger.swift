// SPDX-License-Identifier: MIT

/// Exact integers in JSON's notation, of any length that a finite double can have.
package enum DecimalInteger {
    /// The most digits of a finite double.
    package static let longest = 309

    /// The digits of a number that is an integer, with a minus sign if it is negative: `1000` for `1e3` and `1000.0`.
    /// Nil if the text is not a JSON number, not an integer, or beyond the range of a double.
    package static func digits(_ text: some Sequence<UInt8>) -> [UInt8]? {
        guard var number = Parts(text) else { return nil }
        if number.exponent < 0 {
            let zeros = number.digits.suffix(-number.exponent)
            guard zeros.count == -number.exponent || number.digits.allSatisfy({ $0 == zero }),
                zeros.allSatisfy({ $0 == zero })
            else { return nil }
            number.digits.removeLast(zeros.count)
        }
        number.digits = Array(number.digits.drop { $0 == zero })
        guard !number.digits.isEmpty else { return [zero] }
        if number.exponent > 0 {
            guard number.digits.count + number.exponent <= longest else { return nil }
            number.digits += [UInt8](repeating: zero, count: number.exponent)
        }
        return (number.isNegative ? [UInt8(ascii: "-")] : []) + number.digits
    }

    private static let zero = UInt8(ascii: "0")

    /// A number's sign, its digits without the point, and its power of ten.
    private struct Parts {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0

        init?(_ text: some Sequence<UInt8>) {
            var rest = Array(text)[...]
            isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest.removeFirst() }
            digits = Self.takeDigits(&rest)
            guard !digits.isEmpty else { return nil }
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                let fraction = Self.takeDigits(&rest)
                digits += fraction
                exponent -= fraction.count
            }
            if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
                rest.removeFirst()
                let isDivided = rest.first == UInt8(ascii: "-")
                if isDivided || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
                let power = Self.takeDigits(&rest)
                guard !power.isEmpty else { return nil }
                // Larger powers are beyond the range of a double unless the number is 0.
                let size = power.reduce(0) { min(1 << 20, $0 * 10 + Int($1 - UInt8(ascii: "0"))) }
                exponent += isDivided ? -size : size
            }
            guard rest.isEmpty else { return nil }
        }

        private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest[digits.endIndex...]
            return Array(digits)
        }
    }
}
