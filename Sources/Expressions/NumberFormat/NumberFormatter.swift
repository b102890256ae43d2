// SPDX-License-Identifier: MIT
import CICU

/// Formats numbers for a locale, with ICU. Immutable.
///
/// Invariant: `formatter` is valid for this object's lifetime. ICU's formatters are immutable and
/// thread-safe, so `@unchecked Sendable` is sound.
final class NumberFormatter: @unchecked Sendable {
    private let formatter: OpaquePointer
    /// A text to replace and its replacement, such as a group separator that has changed since ICU's data were made.
    private let replacement: (text: String, with: String)?

    /// The maximum size of a formatted number in bytes: 309 digits, 100 decimals and their separators, in any script.
    private static let capacity: Int32 = 4096

    /// - Throws: if ICU is missing, or does not support the format.
    init(_ style: NumberStyle, digits: ClosedRange<Int>, locale: NumberLocale) throws(EvaluationError) {
        try Self.requireLibrary()
        let skeleton = [style.skeleton, locale.skeleton, Self.precision(digits), "rounding-mode-half-up"]
        guard let formatter = cicu_open(skeleton.joined(separator: " "), locale.name) else {
            throw EvaluationError("There is no number format for this locale, currency or unit.")
        }
        self.formatter = formatter
        replacement = locale.replacement
    }

    deinit { cicu_close(formatter) }

    func text(_ number: Double) -> String {
        // ICU would write the sign of NaN, which depends on the processor.
        let number = number.isNaN ? Double.nan : number
        let text = String(unsafeUninitializedCapacity: Int(Self.capacity)) { bytes in
            bytes.withMemoryRebound(to: CChar.self) { chars in
                Int(max(0, cicu_format(formatter, number, chars.baseAddress, Self.capacity)))
            }
        }
        guard let replacement, text.contains(replacement.text) else { return text }
        return text.split(separator: replacement.text, omittingEmptySubsequences: false)
            .joined(separator: replacement.with)
    }

    static func requireLibrary() throws(EvaluationError) {
        guard !cicu_is_available() else { return }
        let library = String(cString: cicu_library())
        throw EvaluationError(
            "\"number-format\" needs \(library), which is not installed on the server; install ICU.")
    }

    /// The number of decimals in ICU's syntax: `.00#` means two or three.
    private static func precision(_ digits: ClosedRange<Int>) -> String {
        guard digits.upperBound > 0 else { return "precision-integer" }
        return "." + String(repeating: "0", count: digits.lowerBound) + String(repeating: "#", count: digits.count - 1)
    }
}

extension NumberLocale {
    /// ICU's interpretation of a language tag; nil if the tag is malformed.
    static func parse(_ tag: String) -> (name: String, numbers: String, isKnown: Bool)? {
        let capacity = 160
        var name = [CChar](repeating: 0, count: capacity)
        var numbers = [CChar](repeating: 0, count: capacity)
        guard cicu_parse_tag(tag, &name, &numbers, Int32(capacity)) else { return nil }
        func text(_ chars: [CChar]) -> String {
            String(decoding: chars.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return (text(name), text(numbers), cicu_has_language(name))
    }
}

extension NumberStyle {
    /// ICU's number of decimals of a currency.
    static func fractionDigits(ofCurrency code: String) -> Int { Int(cicu_fraction_digits(code)) }
}

/// What determines a format.
struct NumberFormatKey: Hashable {
    /// The language tag's bytes; nil for the default.
    var locale: [UInt8]?
    var style = NumberStyle.decimal
    /// The minimum number of decimals.
    var least: Double?
    /// The maximum number of decimals.
    var most: Double?
}
