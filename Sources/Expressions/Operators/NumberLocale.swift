// SPDX-License-Identifier: MIT

/// How a locale writes numbers, by the Unicode consortium's locale data.
struct NumberLocale: Sendable {
    /// The language, in lower case.
    let language: String
    /// The region, in upper case; empty where none is named.
    let region: String
    private var group = ","
    private var decimal = "."
    /// Where amounts of money are written otherwise than numbers.
    private var moneyGroup: String?
    private var moneyDecimal: String?
    private(set) var minus = "-"
    /// Digits before the first mark that groups them: with 2, 1234 is not grouped.
    private var leading = 1
    /// Whether digits beyond the last three are grouped by two.
    private var isIndian = false
    private(set) var currency = CurrencyPlace.before

    /// Where a currency's symbol stands.
    enum CurrencyPlace: Sendable {
        case before, beforeWithSpace, afterWithSpace
        /// Before the sign of a negative number.
        case beforeSign
        /// Before the sign of a negative number, with a space.
        case beforeWithSpaceAndSign
        /// Before a space, or before the sign of a negative number.
        case beforeWithSpaceOrSign
    }

    /// The language and the region where one is named, such as `de-AT`.
    var name: String { region.isEmpty ? language : "\(language)-\(region)" }

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
        case "de", "da", "is", "ro", "sr", "el", "ca", "gl", "vi":
            (group, decimal, currency) = (".", ",", .afterWithSpace)
        case "es", "it": (group, decimal, currency, leading) = (".", ",", .afterWithSpace, 2)
        case "hr", "eu", "sl": (group, decimal, currency) = (".", ",", .afterWithSpace)
        case "nl": (group, decimal, currency) = (".", ",", .beforeWithSpaceAndSign)
        case "pt": (group, decimal, currency) = (".", ",", .beforeWithSpace)
        case "tr", "id": (group, decimal) = (".", ",")
        case "fr": (group, decimal, currency) = ("\u{202f}", ",", .afterWithSpace)
        case "ru", "uk", "cs", "sk", "sv", "nb", "nn", "no", "fi", "lt":
            (group, decimal, currency) = ("\u{a0}", ",", .afterWithSpace)
        case "pl", "hu", "bg", "be", "lv", "et":
            (group, decimal, currency, leading) = ("\u{a0}", ",", .afterWithSpace, 2)
        case "hi", "bn", "gu", "ta", "te", "kn": isIndian = true
        default: break
        }
        if Self.withMinusSign.contains(language) { minus = "\u{2212}" }
        if language == "sl" { leading = 2 }
        adaptToRegion()
    }

    /// Languages whose minus is Unicode's own and not the hyphen.
    private static let withMinusSign: Set<String> = [
        "sv", "nb", "nn", "no", "fi", "lt", "et", "hr", "eu", "sl",
    ]

    private mutating func adaptToRegion() {
        switch name {
        case "en-IN": isIndian = true
        case "en-ZA": (group, decimal) = ("\u{a0}", ",")
        case "de-AT": (group, moneyGroup, currency) = ("\u{a0}", ".", .beforeWithSpace)
        case "de-CH", "it-CH": (group, decimal, currency) = ("'", ".", .beforeWithSpaceOrSign)
        case "de-LI": (group, decimal, currency) = ("'", ".", .beforeWithSpace)
        case "fr-CA": group = "\u{a0}"
        case "fr-CH": moneyDecimal = "."
        case "es-MX", "es-US", "es-PR": (group, decimal, currency, leading) = (",", ".", .before, 1)
        case "es-PE": (group, decimal, currency, leading) = (",", ".", .beforeWithSpace, 1)
        case "es-AR", "es-CO": (currency, leading) = (.beforeWithSpace, 1)
        case "es-CL": (currency, leading) = (.beforeSign, 1)
        case "pt-PT": (group, currency, leading) = ("\u{a0}", .afterWithSpace, 2)
        default: break
        }
    }

    /// The magnitude rounded to a number of decimals, halves away from zero, with the digits grouped.
    func format(_ number: Double, _ digits: ClosedRange<Int>, isMoney: Bool = false) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return "∞" }
        let (whole, fraction) = DecimalDigits.rounded(number.magnitude, to: digits.upperBound)
        var decimals = fraction[...]
        while decimals.count > digits.lowerBound, decimals.last == UInt8(ascii: "0") { decimals.removeLast() }
        let text = grouped(whole, by: isMoney ? moneyGroup ?? group : group)
        let decimal = isMoney ? moneyDecimal ?? decimal : decimal
        return decimals.isEmpty ? text : text + decimal + String(decoding: decimals, as: UTF8.self)
    }

    private func grouped(_ digits: [UInt8], by group: String) -> String {
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
