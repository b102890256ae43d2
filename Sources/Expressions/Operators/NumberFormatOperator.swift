// SPDX-License-Identifier: MIT
import JSON

/// `number-format`.
enum NumberFormatOperator {
    static let definitions: [String: OperatorDefinition] = [
        "number-format": OperatorDefinition { context, _, items in parse(context, items) }
    ]

    private enum Option: String, Sendable, CaseIterable {
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

    /// The cost of making a format, in steps: about a hundred microseconds.
    private static let formatterSteps = 1024
    /// The maximum number of formats that an evaluation keeps; others are made again when needed.
    private static let keptFormatters = 32

    private static func parse(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count == 3 else { return context.fail("Expected two arguments.") }
        guard let number = context.parse(items[1], 1, expecting: .number) else { return nil }
        guard case .object(let object) = items[2] else {
            return context.fail("NumberFormat options argument must be an object.")
        }
        var options: [Option] = []
        var arguments = [number]
        for option in Option.allCases {
            guard let value = object[option.rawValue], Conversion.boolean(value) else { continue }
            guard let node = context.parse(value, 1, expecting: option.type) else { return nil }
            options.append(option)
            arguments.append(node)
        }
        guard !(options.contains(.currency) && options.contains(.unit)) else {
            return context.fail("NumberFormat options `currency` and `unit` are mutually exclusive")
        }
        let given = options
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            let formatter = try formatter(given, arguments.dropFirst(), context)
            // The number is evaluated last, as in MapLibre: if both fail, the error of the options is reported.
            return .string(formatter.text(try context.number(arguments[0])))
        }
        return ExpressionNode(.string, .lazy(evaluate), arguments)
    }

    /// The format that the options describe, made at its first use.
    private static func formatter(
        _ options: [Option], _ arguments: ArraySlice<ExpressionNode>, _ context: EvaluationContext
    ) throws(EvaluationError) -> NumberFormatter {
        var key = NumberFormatKey()
        for (option, argument) in zip(options, arguments) {
            let value = try context.evaluate(argument)
            try context.charge(reading: value)
            switch option {
            case .locale: key.locale = Array(Conversion.text(value).utf8)
            case .currency: key.style = try .checked(currency: Conversion.text(value))
            case .unit: key.style = try .checked(unit: Conversion.text(value))
            case .least: key.least = Conversion.number(value)
            case .most: key.most = Conversion.number(value)
            }
        }
        if let known = context.formatters[key] { return known }
        try context.charge(formatterSteps)
        try NumberFormatter.requireLibrary()
        var locale = NumberLocale.english
        if let tag = key.locale {
            locale = try NumberLocale(String(decoding: tag, as: UTF8.self), for: key.style)
        }
        let digits = try digits(key.least, key.most, key.style.fractionDigits)
        let formatter = try NumberFormatter(key.style, digits: digits, locale: locale)
        if context.formatters.count >= keptFormatters { context.formatters.removeAll() }
        context.formatters[key] = formatter
        return formatter
    }

    /// The minimum and maximum number of decimals.
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
