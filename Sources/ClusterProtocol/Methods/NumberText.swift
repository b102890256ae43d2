// SPDX-License-Identifier: MIT

/// Numbers by JSON's grammar (RFC 8259, section 6).
public enum NumberText {
    /// The number's value; nil if the text is not a JSON number, or is beyond a double's range.
    public static func value(_ text: String) -> Double? {
        var rest = Substring(text).utf8[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = takeDigits(&rest)
        guard whole.count == 1 || whole.count > 1 && whole.first != UInt8(ascii: "0") else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard !takeDigits(&rest).isEmpty else { return nil }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard !takeDigits(&rest).isEmpty else { return nil }
        }
        guard rest.isEmpty, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    private static func takeDigits(_ rest: inout Substring.UTF8View.SubSequence) -> Substring.UTF8View.SubSequence {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}
