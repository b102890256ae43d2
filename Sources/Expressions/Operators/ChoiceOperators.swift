// SPDX-License-Identifier: MIT
import JSON

/// Operators that evaluate one of their outputs: `case`, `match` and `coalesce`.
enum ChoiceOperators {
    static let definitions: [String: OperatorDefinition] = [
        "case": OperatorDefinition { context, _, items in conditional(context, items) },
        "match": OperatorDefinition { context, _, items in match(context, items) },
        "coalesce": OperatorDefinition { context, _, items in coalesce(context, items) },
    ]

    private static func conditional(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count >= 4 else {
            return context.fail("Expected at least 3 arguments, but found only \(items.count - 1).")
        }
        guard items.count % 2 == 0 else { return context.fail("Expected an odd number of arguments.") }
        var type = context.outputType
        var arguments: [ExpressionNode] = []
        for index in stride(from: 1, to: items.count - 1, by: 2) {
            guard let condition = context.parse(items[index], index, expecting: .boolean),
                let output = context.parse(items[index + 1], index + 1, expecting: type)
            else { return nil }
            type = type ?? output.type
            arguments += [condition, output]
        }
        let last = items.count - 1
        guard let otherwise = context.parse(items[last], last, expecting: type) else { return nil }
        return ExpressionNode(type ?? otherwise.type, .caseWhen, arguments + [otherwise])
    }

    private static func match(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count >= 5 else {
            return context.fail("Expected at least 4 arguments, but found only \(items.count - 1).")
        }
        guard items.count % 2 == 1 else { return context.fail("Expected an even number of arguments.") }
        var (labels, type) = (MatchLabels(), context.outputType)
        var outputs: [ExpressionNode] = []
        for index in stride(from: 2, to: items.count - 1, by: 2) {
            guard labels.add(items[index], for: outputs.count, context.at(index)),
                let output = context.parse(items[index + 1], index, expecting: type)
            else { return nil }
            type = type ?? output.type
            outputs.append(output)
        }
        let last = items.count - 1
        guard let input = context.parse(items[1], 1, expecting: .value),
            let otherwise = context.parse(items[last], last, expecting: type), let inputType = labels.type
        else { return nil }
        if input.type != .value, !context.at(1).check(inputType, accepts: input.type) { return nil }
        let outputsByLabel = labels.outputs
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            let input = try context.evaluate(arguments[0])
            try context.charge(reading: input)
            let output = ExpressionType.of(input) == inputType ? MatchLabel(input).flatMap { outputsByLabel[$0] } : nil
            return try context.evaluate(arguments[output.map { $0 + 1 } ?? arguments.count - 1])
        }
        return ExpressionNode(type ?? otherwise.type, .lazy(evaluate), [input] + outputs + [otherwise])
    }

    private static func coalesce(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count >= 2 else { return context.fail("Expected at least one argument.") }
        var type = context.outputType
        var arguments: [ExpressionNode] = []
        for index in 1..<items.count {
            guard let node = context.parse(items[index], index, expecting: type, annotation: .omit) else {
                return nil
            }
            type = type ?? node.type
            arguments.append(node)
        }
        // If an argument would need an assertion, the whole is asserted instead, because null must pass.
        let isOpen =
            context.expected.map { expected in arguments.contains { !expected.accepts($0.type) } } ?? false
        return ExpressionNode(isOpen ? .value : type ?? .value, .coalesce, arguments)
    }
}

/// A label of `match`. Strings are compared by their bytes.
enum MatchLabel: Sendable, Hashable {
    case number(Double)
    case string([UInt8])

    init?(_ value: JSONValue) {
        switch value {
        case .number(let number): self = .number(number)
        case .string(let text): self = .string(Array(text.utf8))
        default: return nil
        }
    }
}

/// The labels of a `match`, checked as they are added.
struct MatchLabels {
    /// The index of the output for each label.
    private(set) var outputs: [MatchLabel: Int] = [:]
    /// The type of all labels; nil before the first.
    private(set) var type: ExpressionType?
    /// The labels' texts. Labels must differ as JavaScript's property names do.
    private var texts: Set<[UInt8]> = []
    private static let largestInteger = 9_007_199_254_740_991.0

    /// Adds the labels of one output: a value, or an array of values. If it returns false, it has recorded an error.
    mutating func add(_ value: JSONValue, for output: Int, _ context: ParsingContext) -> Bool {
        let values: [JSONValue]
        if case .array(let items) = value { values = items } else { values = [value] }
        if values.isEmpty { context.note("Expected at least one branch label.") }
        for value in values {
            guard let label = Self.label(value, context) else { return false }
            let labelType = ExpressionType.of(value)
            if let type, !context.check(type, accepts: labelType) { return false }
            type = labelType
            guard texts.insert(Array(Conversion.text(value).utf8)).inserted else {
                context.note("Branch labels must be unique.")
                return false
            }
            outputs[label] = output
        }
        return !values.isEmpty
    }

    private static func label(_ value: JSONValue, _ context: ParsingContext) -> MatchLabel? {
        switch value {
        case .number(let number) where number.magnitude > largestInteger:
            context.note("Branch labels must be integers no larger than 9007199254740991.")
        case .number(let number) where number.rounded(.down) != number:
            context.note("Numeric branch labels must be integer values.")
        case .number, .string: return MatchLabel(value)
        default: context.note("Branch labels must be numbers or strings.")
        }
        return nil
    }
}
