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
