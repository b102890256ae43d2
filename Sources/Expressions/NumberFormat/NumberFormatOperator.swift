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
    /// What making a format costs, in steps: about a hundred microseconds.
    private static let formatterSteps = 1024

    func evaluate(_ arguments: [Node], _ context: EvaluationContext) throws(EvaluationError) -> JSONValue {
        var (locale, least, most) = ("", Double?.none, Double?.none)
        var style = NumberStyle.decimal
        for (index, option) in options.enumerated() {
            let value = try context.evaluate(arguments[index + 1])
            try context.charge(reading: value)
            switch option {
            case .locale: locale = Conversion.text(value)
            case .currency: style = try .checked(currency: Conversion.text(value))
            case .unit: style = try .checked(unit: Conversion.text(value))
            case .least: least = Conversion.number(value)
            case .most: most = Conversion.number(value)
            }
        }
        let key = NumberFormatterCache.Key(
            locale: Array(locale.utf8), style: style, least: least, most: most)
        let formatter: NumberFormatter
        if let known = context.formatters[key] {
            formatter = known
        } else {
            try context.charge(Self.formatterSteps)
            try NumberFormatter.requireLibrary()
            let language: NumberLocale =
                options.contains(.locale) ? try NumberLocale(locale, for: style) : .english
            formatter = try NumberFormatter(
                style, digits: Self.digits(least, most, style.fractionDigits), locale: language)
            context.formatters[key] = formatter
        }
        // Only now, as in MapLibre: of several errors that of the options is reported.
        return .string(formatter.text(try context.number(arguments[0])))
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
