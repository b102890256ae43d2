// SPDX-License-Identifier: MIT

/// How a locale writes numbers, by the Unicode consortium's locale data.
struct NumberLocale: Sendable {
    /// The language, in lower case.
    let language: String
    /// The region, in upper case; empty where none is named.
    let region: String
    private var group = ","
    private var decimal = "."
    private(set) var minus = "-"
    /// Digits before the first mark that groups them: with 2, 1234 is not grouped.
    private var leading = 1
    /// Whether digits beyond the last three are grouped by two.
    private var isIndian = false
    private(set) var currency = CurrencyPlace.before

    /// Where a currency's symbol stands.
    enum CurrencyPlace: Sendable {
        case before, beforeWithSpace, afterWithSpace
    }

    static let english = NumberLocale(language: "en", region: "US")

    /// - Parameter tag: a language tag; of a language that is not known the format is English.
    init(_ tag: String) throws(EvaluationError) {
        let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
        let isWellFormed = parts.allSatisfy { part in
            (1...8).contains(part.utf8.count)
                && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
        guard isWellFormed, let language = parts.first, (2...8).contains(language.count),
            language.allSatisfy(\.isLetter)
        else { throw EvaluationError("Incorrect locale information provided") }
        let region = parts.dropFirst().prefix { $0.count > 1 }.first { $0.count == 2 }
        self.init(language: language.lowercased(), region: region?.uppercased() ?? "")
    }

    private init(language: String, region: String) {
        self.language = language
        self.region = region
        switch language {
        case "de": (group, decimal, currency) = (".", ",", .afterWithSpace)
        case "es", "gl", "ca", "el", "da", "sl", "hr", "ro", "sr", "vi", "it":
            (group, decimal, currency) = (".", ",", .afterWithSpace)
            if language == "es" { leading = 2 }
        case "nl": (group, decimal, currency) = (".", ",", .beforeWithSpace)
        case "pt": (group, decimal, currency) = (".", ",", .beforeWithSpace)
        case "id": (group, decimal, currency) = (".", ",", .beforeWithSpace)
        case "tr": (group, decimal) = (".", ",")
        case "fr": (group, decimal, currency) = ("\u{202f}", ",", .afterWithSpace)
        case "ru", "uk", "cs", "sk", "bg", "hu", "pl", "sv", "nb", "no", "fi":
            (group, decimal, currency) = ("\u{a0}", ",", .afterWithSpace)
            if language == "pl" || language == "bg" { leading = 2 }
            if ["sv", "nb", "no", "fi"].contains(language) { minus = "\u{2212}" }
        case "hi", "bn", "gu", "ta", "te", "kn": isIndian = true
        default: break
        }
        adaptToRegion()
    }

    private mutating func adaptToRegion() {
        switch (language, region) {
        case ("en", "IN"): isIndian = true
        case ("de", "AT"): (group, currency) = ("\u{a0}", .beforeWithSpace)
        case ("de", "CH"), ("de", "LI"), ("it", "CH"):
            (group, decimal, currency) = ("\u{2019}", ".", .beforeWithSpace)
        case ("es", "MX"), ("es", "US"), ("es", "PR"):
            (group, decimal, currency, leading) = (",", ".", .before, 1)
        case ("pt", "PT"): (group, currency, leading) = ("\u{a0}", .afterWithSpace, 2)
        default: break
        }
    }

    /// The magnitude rounded to a number of decimals, halves away from zero, with the digits grouped.
    func format(_ number: Double, _ digits: ClosedRange<Int>) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return "∞" }
        let (whole, fraction) = DecimalDigits.rounded(number.magnitude, to: digits.upperBound)
        var decimals = fraction[...]
        while decimals.count > digits.lowerBound, decimals.last == UInt8(ascii: "0") { decimals.removeLast() }
        let text = grouped(whole)
        return decimals.isEmpty ? text : text + decimal + String(decoding: decimals, as: UTF8.self)
    }

    private func grouped(_ digits: [UInt8]) -> String {
        guard digits.count >= 3 + leading else { return String(decoding: digits, as: UTF8.self) }
        var text = ""
        for (place, digit) in digits.enumerated() {
            let left = digits.count - place
            let isMarked = isIndian ? left == 3 || (left > 3 && left % 2 == 1) : left % 3 == 0
            if place > 0, isMarked { text += group }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }
}
