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

    var fractionDigits: ClosedRange<Int> {
        guard case .currency(let code) = self else { return 0...3 }
        let digits = Self.withoutDecimals.contains(code) ? 0 : Self.withThreeDecimals.contains(code) ? 3 : 2
        return digits...digits
    }

    private static let withoutDecimals: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
        "XAF", "XOF", "XPF",
    ]
    private static let withThreeDecimals: Set<String> = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]

    func decorate(_ text: String, isNegative: Bool, in locale: NumberLocale) -> String {
        let sign = isNegative ? locale.minus : ""
        switch self {
        case .decimal: return sign + text
        case .unit(let name): return sign + text + (UnitNames.suffix(name, isOne: text == "1") ?? "")
        case .currency(let code):
            let symbol = CurrencySymbols.symbol(of: code, in: locale)
            switch locale.currency {
            // A symbol that ends in a letter is set apart from the digits.
            case .before where symbol.last?.isLetter == true: return sign + symbol + "\u{a0}" + text
            case .before: return sign + symbol + text
            case .beforeWithSpace where locale.language == "nl": return symbol + "\u{a0}" + sign + text
            case .beforeWithSpace: return sign + symbol + "\u{a0}" + text
            case .afterWithSpace: return sign + text + "\u{a0}" + symbol
            }
        }
    }
}

/// Symbols of currencies; those without one are written by their code.
private enum CurrencySymbols {
    static func symbol(of code: String, in locale: NumberLocale) -> String {
        if let symbol = locals["\(locale.language) \(code)"] { return symbol }
        if locale.language == "en", let symbol = homes["\(locale.region) \(code)"] { return symbol }
        if let symbol = common[code] { return symbol }
        return (locale.language == "en" ? english[code] : nil) ?? code
    }

    /// In most languages.
    private static let common = [
        "EUR": "€", "GBP": "£", "INR": "₹", "KRW": "₩", "ILS": "₪", "VND": "₫", "USD": "$", "JPY": "¥",
        "BRL": "R$", "CNY": "CN¥", "CAD": "CA$", "AUD": "AU$", "MXN": "MX$", "NZD": "NZ$", "TWD": "NT$",
        "HKD": "HK$", "XCD": "EC$", "XPF": "CFPF", "XAF": "FCFA",
    ]
    private static let english = ["PHP": "₱", "XOF": "F\u{202f}CFA"]
    /// Where English is spoken, the region's own currency.
    private static let homes = [
        "CA CAD": "$", "AU AUD": "$", "NZ NZD": "$", "CA USD": "US$", "GB USD": "US$",
    ]
    private static let locals = [
        "ja JPY": "￥", "ja CNY": "元", "zh CNY": "¥", "zh JPY": "JP¥", "zh USD": "US$", "ko USD": "US$",
        "ko JPY": "JP¥", "en AUD": "A$", "pt USD": "US$", "pt JPY": "JP¥", "nl USD": "US$", "fr USD": "$US",
        "fr GBP": "£GB", "ru RUB": "₽", "uk UAH": "₴", "pl PLN": "zł", "cs CZK": "Kč", "hu HUF": "Ft",
        "da DKK": "kr.", "sv SEK": "kr", "nb NOK": "kr", "tr TRY": "₺", "id IDR": "Rp", "es USD": "US$",
    ]
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
            return "\(amount)/\(hours[String(short)] ?? String(short))"
        }
        return nil
    }

    private static func simple(_ name: String, isOne: Bool) -> String? {
        isOne ? singular[name] ?? suffixes[name] : suffixes[name]
    }

    private static let rates = [
        "kilometer-per-hour": " km/h", "mile-per-hour": " mph", "mile-per-gallon": " mpg",
    ]
    private static let hours = ["hr": "h", "sec": "s"]
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
