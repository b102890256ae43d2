// SPDX-License-Identifier: MIT

/// What a formatted number is of.
enum NumberStyle: Sendable {
    case decimal
    case currency(code: String)
    case unit(name: String)

    static func checked(currency code: String) throws(EvaluationError) -> NumberStyle {
        guard code.utf8.count == 3, code.allSatisfy({ $0.isASCII && $0.isLetter }) else {
            throw EvaluationError("Invalid currency code : \(code)")
        }
        return .currency(code: code.uppercased())
    }

    static func checked(unit name: String) throws(EvaluationError) -> NumberStyle {
        guard UnitNames.suffix(name, isOne: false) != nil else {
            throw EvaluationError("Invalid unit argument for Intl.NumberFormat() '\(name)'")
        }
        return .unit(name: name)
    }

    var isMoney: Bool {
        if case .currency = self { return true }
        return false
    }

    var fractionDigits: ClosedRange<Int> {
        guard case .currency(let code) = self else { return 0...3 }
        if Self.withoutDecimals.contains(code) { return 0...0 }
        if Self.withThreeDecimals.contains(code) { return 3...3 }
        return Self.withFourDecimals.contains(code) ? 4...4 : 2...2
    }

    private static let withoutDecimals: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
        "XAF", "XOF", "XPF",
    ]
    private static let withThreeDecimals: Set<String> = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
    private static let withFourDecimals: Set<String> = ["CLF", "UYW"]

    func decorate(_ text: String, isNegative: Bool, in locale: NumberLocale) -> String {
        let sign = isNegative ? locale.minus : ""
        switch self {
        case .decimal: return sign + text
        case .unit(let name): return sign + text + (UnitNames.suffix(name, isOne: text == "1") ?? "")
        case .currency(let code):
            let symbol = CurrencySymbols.symbol(of: code, in: locale)
            switch locale.currency {
            // A symbol that ends in a letter is set apart from the digits.
            case .before: return sign + symbol + (symbol.last?.isLetter == true ? "\u{a0}" : "") + text
            case .beforeSign where isNegative: return symbol + sign + text
            case .beforeSign: return symbol + (symbol.last?.isLetter == true ? "\u{a0}" : "") + text
            case .beforeWithSpace: return sign + symbol + "\u{a0}" + text
            case .beforeWithSpaceAndSign: return symbol + "\u{a0}" + sign + text
            case .beforeWithSpaceOrSign: return symbol + (isNegative ? sign : "\u{a0}") + text
            case .afterWithSpace: return sign + text + "\u{a0}" + symbol
            }
        }
    }
}

/// Units as English writes them in short; most other languages do alike.
private enum UnitNames {
    /// What follows the number; nil for an unknown unit.
    static func suffix(_ name: String, isOne: Bool) -> String? {
        if let simple = simple(name, isOne: isOne) { return simple }
        // Two simple units make one: `liter-per-kilometer`.
        if let special = rates[name] { return special }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        for place in parts.indices where parts[place] == "per" {
            let amount = parts[..<place].joined(separator: "-")
            let basis = parts[(place + 1)...].joined(separator: "-")
            guard let amount = simple(amount, isOne: isOne), let basis = simple(basis, isOne: true) else {
                continue
            }
            let short = basis.drop { $0 == " " }
            return "\(amount)/\(times[String(short)] ?? String(short))"
        }
        return nil
    }

    private static func simple(_ name: String, isOne: Bool) -> String? {
        isOne ? singular[name] ?? suffixes[name] : suffixes[name]
    }

    private static let rates = [
        "kilometer-per-hour": " km/h", "mile-per-hour": " mph", "mile-per-gallon": " mpg",
    ]
    /// Units of time behind a slash.
    private static let times = [
        "hr": "h", "sec": "s", "day": "d", "wk": "w", "mth": "m", "yr": "y",
    ]
    private static let singular = [
        "day": " day", "week": " wk", "month": " mth", "year": " yr",
    ]
    private static let suffixes = [
        "acre": " ac", "bit": " bit", "byte": " byte", "celsius": "°C", "centimeter": " cm", "day": " days",
        "degree": " deg", "fahrenheit": "°F", "fluid-ounce": " fl oz", "foot": " ft", "gallon": " gal",
        "gigabit": " Gb", "gigabyte": " GB", "gram": " g", "hectare": " ha", "hour": " hr", "inch": " in",
        "kilobit": " kb", "kilobyte": " kB", "kilogram": " kg", "kilometer": " km", "liter": " L",
        "megabit": " Mb", "megabyte": " MB", "meter": " m", "microsecond": " μs", "mile": " mi",
        "mile-scandinavian": " smi", "milliliter": " mL", "millimeter": " mm", "millisecond": " ms",
        "minute": " min", "month": " mths", "nanosecond": " ns", "ounce": " oz", "percent": "%",
        "petabyte": " PB", "pound": " lb", "second": " sec", "stone": " st", "terabit": " Tb",
        "terabyte": " TB", "week": " wks", "yard": " yd", "year": " yrs",
    ]
}
