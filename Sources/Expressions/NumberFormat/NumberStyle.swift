// SPDX-License-Identifier: MIT

/// What a formatted number represents: a number, an amount of money or a measure.
enum NumberStyle: Sendable, Hashable {
    case decimal
    case currency(code: String)
    case unit(name: String)

    static func checked(currency code: String) throws(EvaluationError) -> NumberStyle {
        guard code.utf8.count == 3, code.allSatisfy({ $0.isASCII && $0.isLetter }) else {
            throw EvaluationError("Invalid currency code : \(code)")
        }
        return .currency(code: code.uppercased())
    }

    /// - Parameter name: a simple unit, or two of them such as `liter-per-kilometer`.
    static func checked(unit name: String) throws(EvaluationError) -> NumberStyle {
        let isUnit = simpleUnits.contains(name) || isRate(name)
        guard isUnit else { throw EvaluationError("Invalid unit argument for Intl.NumberFormat() '\(name)'") }
        return .unit(name: name)
    }

    private static func isRate(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        return parts.indices.contains { index in
            parts[index] == "per" && simpleUnits.contains(parts[..<index].joined(separator: "-"))
                && simpleUnits.contains(parts[(index + 1)...].joined(separator: "-"))
        }
    }

    /// The units of ECMA-402, table "Single units sanctioned for use in ECMAScript".
    private static let simpleUnits: Set<String> = [
        "acre", "bit", "byte", "celsius", "centimeter", "day", "degree", "fahrenheit", "fluid-ounce", "foot",
        "gallon", "gigabit", "gigabyte", "gram", "hectare", "hour", "inch", "kilobit", "kilobyte", "kilogram",
        "kilometer", "liter", "megabit", "megabyte", "meter", "microsecond", "mile", "mile-scandinavian",
        "milliliter", "millimeter", "millisecond", "minute", "month", "nanosecond", "ounce", "percent",
        "petabyte",
        "pound", "second", "stone", "terabit", "terabyte", "week", "yard", "year",
    ]

    /// The minimum and maximum number of decimals, unless the expression specifies them.
    var fractionDigits: ClosedRange<Int> {
        guard case .currency(let code) = self else { return 0...3 }
        // ISO 4217 specifies two; ICU has the digits of everyday use.
        let digits = code == "RSD" ? 2 : Self.fractionDigits(ofCurrency: code)
        return digits...digits
    }

    /// ICU's description of the format.
    var skeleton: String {
        switch self {
        case .decimal: ""
        case .currency(let code): "currency/\(code)"
        case .unit(let name): "unit/\(name) unit-width-short"
        }
    }
}

/// A locale of `number-format`.
struct NumberLocale: Sendable {
    /// ICU's name of the locale.
    let name: String
    /// An addition to ICU's description of a format.
    private(set) var skeleton = ""
    /// A text in ICU's output that is replaced in each number.
    private(set) var replacement: (text: String, with: String)?

    static let english = NumberLocale(name: "en_US")

    private init(name: String) { self.name = name }

    /// - Parameters:
    ///   - tag: a BCP 47 language tag. English is used for languages without data.
    ///   - style: the style of the numbers to be formatted.
    init(_ tag: String, for style: NumberStyle) throws(EvaluationError) {
        guard Self.isWellFormed(tag), let parsed = Self.parse(Self.withCurrentLanguage(tag)) else {
            throw EvaluationError("Incorrect locale information provided")
        }
        guard parsed.isKnown else {
            self = .english
            return
        }
        var numbers = parsed.numbers
        let language = String(parsed.name.prefix { $0 != "_" })
        // Browsers' data are newer than those of ICU 72. The corrections below follow the Unicode
        // consortium's release 48. Arabic without a country uses European digits.
        if parsed.name == "ar", numbers.isEmpty { numbers = "latn" }
        // Norwegian currencies follow the number, as in New Norwegian, which differs in one symbol.
        var name = parsed.name
        if case .currency(let code) = style, ["nb", "no"].contains(language) {
            name = "nn"
            if code == "GBP" { replacement = (code, "£") }
        }
        self.name = numbers.isEmpty ? name : "\(name)@numbers=\(numbers)"
        // Numbers of four digits are not grouped in these languages.
        if Self.groupingFromFiveDigits.contains(language) { skeleton = "group-min2" }
        // The Swiss separator is an apostrophe.
        if Self.apostrophe.contains(parsed.name) || language == "gsw" { replacement = ("\u{2019}", "'") }
    }

    /// The tag with its language's current code, if the code has changed.
    private static func withCurrentLanguage(_ tag: String) -> String {
        let language = tag.prefix { $0 != "-" }
        guard let current = formerLanguages[language.lowercased()] else { return tag }
        return current + tag.dropFirst(language.count)
    }

    private static let formerLanguages = [
        "in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr-Latn", "tl": "fil",
    ]
    private static let groupingFromFiveDigits: Set<String> = ["hu", "hy", "it", "sl"]
    private static let apostrophe: Set<String> = ["de_CH", "de_LI", "it_CH", "en_CH"]

    /// Whether a tag begins with a language and has no empty part. ICU itself accepts more.
    private static func isWellFormed(_ tag: String) -> Bool {
        let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
        guard let language = parts.first, [2, 3, 5, 6, 7, 8].contains(language.utf8.count),
            language.allSatisfy({ $0.isASCII && $0.isLetter })
        else { return false }
        // A second language subtag in the position of a script belongs to the older standard.
        if parts.count > 1, parts[1].utf8.count == 3, parts[1].allSatisfy(\.isLetter) { return false }
        return parts.allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
    }
}
