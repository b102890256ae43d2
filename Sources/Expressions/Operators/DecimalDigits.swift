// SPDX-License-Identifier: MIT
import JSON

/// A number's decimal digits.
enum DecimalDigits {
    /// The digits before and after the point of the shortest decimal that reads back as the number, rounded.
    static func rounded(_ magnitude: Double, to decimals: Int) -> (whole: [UInt8], fraction: [UInt8]) {
        var (whole, fraction) = digits(of: magnitude)
        let zero = UInt8(ascii: "0")
        guard fraction.count > decimals else {
            return (whole, fraction + Array(repeating: zero, count: decimals - fraction.count))
        }
        let roundsUp = fraction[decimals] >= UInt8(ascii: "5")
        fraction.removeLast(fraction.count - decimals)
        if roundsUp { carry(&whole, &fraction) }
        return (whole, fraction)
    }

    private static func carry(_ whole: inout [UInt8], _ fraction: inout [UInt8]) {
        var all = whole + fraction
        var place = all.count - 1
        while place >= 0, all[place] == UInt8(ascii: "9") {
            all[place] = UInt8(ascii: "0")
            place -= 1
        }
        if place >= 0 { all[place] += 1 } else { all.insert(UInt8(ascii: "1"), at: 0) }
        let count = fraction.count
        (whole, fraction) = (Array(all.dropLast(count)), Array(all.suffix(count)))
    }

    /// The digits as JavaScript would print them, without an exponent.
    private static func digits(of magnitude: Double) -> (whole: [UInt8], fraction: [UInt8]) {
        let text = Array(String(javaScript: magnitude).utf8)
        let mark = text.firstIndex(of: UInt8(ascii: "e")) ?? text.count
        let exponent =
            Int(String(decoding: text[mark...].dropFirst(), as: UTF8.self).filter { $0 != "+" }) ?? 0
        let parts = text[..<mark].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        var whole = parts.first.map(Array.init) ?? []
        var fraction = parts.count > 1 ? Array(parts[1]) : []
        let zero = UInt8(ascii: "0")
        for _ in 0..<max(0, exponent) { whole.append(fraction.isEmpty ? zero : fraction.removeFirst()) }
        for _ in 0..<max(0, -exponent) { fraction.insert(whole.popLast() ?? zero, at: 0) }
        let digits = Array(whole.drop { $0 == zero })
        return (digits.isEmpty ? [zero] : digits, fraction)
    }
}
