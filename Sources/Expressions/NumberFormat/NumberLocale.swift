// SPDX-License-Identifier: MIT

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
        // Browsers' data are newer than those of ICU 72. The corrections below follow the Unicode consortium's
        // release 48. Arabic without a country uses European digits.
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
            (1...8).contains(part.utf8.count)
                && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
    }
}
