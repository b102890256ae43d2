// SPDX-License-Identifier: MIT

/// How a locale writes numbers, by the Unicode consortium's locale data.
struct NumberLocale: Sendable {
    /// The language, in lower case.
    let language: String
    /// The region, in upper case; empty where none is named.
    let region: String
    private let marks: NumberMarks
    /// Where amounts of money are written otherwise than numbers.
    private var moneyGroup: String?
    private var moneyDecimal: String?
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
        let region = parts.dropFirst().prefix { $0.count > 1 }.first { part in
            part.count == 2 || (part.count == 3 && part.allSatisfy(\.isNumber))
        }
        let name = language.lowercased()
        self.init(language: Self.formerNames[name] ?? name, region: region?.uppercased() ?? "")
    }

    /// Languages whose code was another once.
    private static let formerNames = [
        "in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr", "tl": "fil",
    ]

    private init(language: String, region: String) {
        self.language = language
        self.region = region
        marks = NumberMarks(of: "\(language)-\(region)") ?? NumberMarks(of: language) ?? .english
        switch language {
        case "de", "da", "is", "ro", "sr", "el", "ca", "gl", "vi", "es", "it", "hr", "eu", "sl", "fr", "ru",
            "uk", "cs", "sk", "sv", "nb", "nn", "no", "fi", "lt", "pl", "hu", "bg", "be", "lv", "et":
            currency = .afterWithSpace
        case "nl": currency = .beforeWithSpaceAndSign
        case "pt": currency = .beforeWithSpace
        default: break
        }
        adaptToRegion()
    }

    private mutating func adaptToRegion() {
        switch name {
        case "de-AT": (moneyGroup, currency) = (".", .beforeWithSpace)
        case "de-CH", "it-CH": currency = .beforeWithSpaceOrSign
        case "de-LI": currency = .beforeWithSpace
        case "fr-CH": moneyDecimal = "."
        case "es-MX", "es-US", "es-PR": currency = .before
        case "es-PE", "es-AR", "es-CO": currency = .beforeWithSpace
        case "es-CL": currency = .beforeSign
        case "pt-PT": currency = .afterWithSpace
        default: break
        }
    }

    var minus: String { marks.minus }

    /// The magnitude rounded to a number of decimals, halves away from zero, with the digits grouped.
    func format(_ number: Double, _ digits: ClosedRange<Int>, isMoney: Bool = false) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return "∞" }
        let (whole, fraction) = DecimalDigits.rounded(number.magnitude, to: digits.upperBound)
        var decimals = fraction[...]
        while decimals.count > digits.lowerBound, decimals.last == UInt8(ascii: "0") { decimals.removeLast() }
        let text = grouped(whole, by: isMoney ? moneyGroup ?? marks.group : marks.group)
        let decimal = isMoney ? moneyDecimal ?? marks.decimal : marks.decimal
        return marks.localized(
            decimals.isEmpty ? text : text + decimal + String(decoding: decimals, as: UTF8.self))
    }

    private func grouped(_ digits: [UInt8], by group: String) -> String {
        guard digits.count >= 3 + marks.leading else { return String(decoding: digits, as: UTF8.self) }
        var text = ""
        for (place, digit) in digits.enumerated() {
            let left = digits.count - place
            let isMarked = marks.isIndian ? left == 3 || (left > 3 && left % 2 == 1) : left % 3 == 0
            if place > 0, isMarked { text += group }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }
}
