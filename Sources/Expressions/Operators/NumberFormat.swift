// SPDX-License-Identifier: MIT
import JSON

/// Which of `number-format`'s options are given: the arguments are the number, then these in order.
struct NumberFormatArguments: Sendable {
    enum Option: String, Sendable, CaseIterable {
        case locale, currency, unit
        case least = "min-fraction-digits"
        case most = "max-fraction-digits"

        var type: ExpressionType {
            switch self {
            case .locale, .currency, .unit: .string
            case .least, .most: .number
            }
        }
    }

    let options: [Option]
}

extension ParsingContext {
    func parseNumberFormat(_ items: [JSONValue]) -> Node? {
        guard items.count == 3 else { return fail("Expected two arguments.") }
        guard let number = parse(items[1], 1, expecting: .number) else { return nil }
        guard case .object(let object) = items[2] else {
            return fail("NumberFormat options argument must be an object.")
        }
        var options: [NumberFormatArguments.Option] = []
        var arguments = [number]
        for option in NumberFormatArguments.Option.allCases {
            guard let value = object[option.rawValue], Conversion.boolean(value) else { continue }
            guard let node = parse(value, 1, expecting: option.type) else { return nil }
            options.append(option)
            arguments.append(node)
        }
        guard !(options.contains(.currency) && options.contains(.unit)) else {
            return fail("NumberFormat options `currency` and `unit` are mutually exclusive")
        }
        return Node(.string, .numberFormat(NumberFormatArguments(options: options)), arguments)
    }
}

extension NumberFormatArguments {
    func evaluate(_ arguments: [Node], _ context: EvaluationContext) throws(EvaluationError) -> JSONValue {
        let number = try context.number(arguments[0])
        var (locale, least, most) = (NumberLocale.english, Double?.none, Double?.none)
        var style = NumberStyle.decimal
        for (place, option) in options.enumerated() {
            let value = try context.evaluate(arguments[place + 1])
            switch option {
            case .locale: locale = try NumberLocale(Conversion.text(value))
            case .currency: style = try .currency(code: Conversion.text(value))
            case .unit: style = try .unit(name: Conversion.text(value))
            case .least: least = Conversion.number(value)
            case .most: most = Conversion.number(value)
            }
        }
        let digits = try Self.digits(least, most, style.fractionDigits)
        return .string(style.decorate(locale.format(number, digits), isNegative: number < 0))
    }

    /// The fewest and most decimals.
    private static func digits(
        _ least: Double?, _ most: Double?, _ usual: ClosedRange<Int>
    ) throws(EvaluationError) -> ClosedRange<Int> {
        for (name, digits) in [("minimumFractionDigits", least), ("maximumFractionDigits", most)] {
            guard let digits else { continue }
            guard (0...100).contains(digits) else { throw EvaluationError("\(name) value is out of range.") }
        }
        let (low, high) = (least.map { Int($0) }, most.map { Int($0) })
        switch (low, high) {
        case (nil, nil): return usual
        case (let low?, nil): return low...max(low, usual.upperBound)
        case (nil, let high?): return min(usual.lowerBound, high)...high
        case (let low?, let high?):
            guard low <= high else { throw EvaluationError("maximumFractionDigits value is out of range.") }
            return low...high
        }
    }
}

/// How a locale groups digits and marks decimals.
struct NumberLocale: Sendable {
    let group: String
    let decimal: String

    static let english = NumberLocale(group: ",", decimal: ".")

    private init(group: String, decimal: String) {
        self.group = group
        self.decimal = decimal
    }

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
        switch language.lowercased() {
        case "de", "nl", "it", "es", "pt", "da", "tr", "id", "el": self.init(group: ".", decimal: ",")
        case "fr": self.init(group: "\u{202f}", decimal: ",")
        case "ru", "uk", "pl", "cs", "sv", "fi", "nb", "no", "hu", "sk", "bg":
            self.init(group: "\u{a0}", decimal: ",")
        default: self = .english
        }
    }

    /// Rounded to a number of decimals, halves away from zero, with the digits grouped.
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
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += group }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }
}

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

/// What a formatted number is of.
enum NumberStyle: Sendable {
    case decimal
    case currency(symbol: String, digits: Int)
    case unit(suffix: String)

    static func currency(code: String) throws(EvaluationError) -> NumberStyle {
        let code = code.uppercased()
        guard code.utf8.count == 3, code.allSatisfy({ $0.isASCII && $0.isLetter }) else {
            throw EvaluationError("Invalid currency code : \(code)")
        }
        let symbols = [
            "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "CN¥", "INR": "₹", "KRW": "₩", "BRL": "R$",
            "CAD": "CA$", "AUD": "A$", "MXN": "MX$", "NZD": "NZ$", "ILS": "₪", "VND": "₫", "TWD": "NT$",
            "HKD": "HK$",
        ]
        let whole: Set<String> = ["JPY", "KRW", "VND", "CLP", "ISK", "UGX", "XAF", "XOF", "PYG"]
        return .currency(symbol: symbols[code] ?? code + "\u{a0}", digits: whole.contains(code) ? 0 : 2)
    }

    static func unit(name: String) throws(EvaluationError) -> NumberStyle {
        guard let suffix = suffixes[name] else {
            throw EvaluationError("Invalid unit argument for Intl.NumberFormat() '\(name)'")
        }
        return .unit(suffix: suffix)
    }

    private static let suffixes = [
        "meter": " m", "kilometer": " km", "centimeter": " cm", "millimeter": " mm", "mile": " mi",
        "foot": " ft",
        "inch": " in", "yard": " yd", "celsius": "°C", "fahrenheit": "°F", "degree": " deg", "percent": "%",
        "gram": " g", "kilogram": " kg", "ounce": " oz", "pound": " lb", "liter": " L", "milliliter": " mL",
        "bit": " bit", "byte": " byte", "kilobyte": " kB", "megabyte": " MB", "gigabyte": " GB",
        "terabyte": " TB",
        "second": " sec", "minute": " min", "hour": " hr", "day": " days", "week": " wks", "month": " mths",
        "year": " yrs", "millisecond": " ms", "acre": " ac", "hectare": " ha", "kilometer-per-hour": " km/h",
        "mile-per-hour": " mph", "meter-per-second": " m/s",
    ]

    var fractionDigits: ClosedRange<Int> {
        guard case .currency(_, let digits) = self else { return 0...3 }
        return digits...digits
    }

    func decorate(_ text: String, isNegative: Bool) -> String {
        let sign = isNegative ? "-" : ""
        switch self {
        case .decimal: return sign + text
        case .currency(let symbol, _): return sign + symbol + text
        case .unit(let suffix): return sign + text + suffix
        }
    }
}
