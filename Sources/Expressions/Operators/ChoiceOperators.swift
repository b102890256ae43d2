// SPDX-License-Identifier: MIT
import JSON

/// Operators that evaluate one of their outputs: `case`, `match` and `coalesce`.
enum ChoiceOperators {
    static let definitions: [String: OperatorDefinition] = [
        "case": OperatorDefinition { context, _, items in conditional(context, items) },
        "match": OperatorDefinition { context, _, items in match(context, items) },
        "coalesce": OperatorDefinition { context, _, items in coalesce(context, items) },
    ]

    private static func conditional(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard items.count >= 4 else {
            return context.fail("Expected at least 3 arguments, but found only \(items.count - 1).")
        }
        guard items.count % 2 == 0 else { return context.fail("Expected an odd number of arguments.") }
        var type = context.outputType
        var arguments: [Node] = []
        for index in stride(from: 1, to: items.count - 1, by: 2) {
            guard let condition = context.parse(items[index], index, expecting: .boolean),
                let output = context.parse(items[index + 1], index + 1, expecting: type)
            else { return nil }
            type = type ?? output.type
            arguments += [condition, output]
        }
        let last = items.count - 1
        guard let otherwise = context.parse(items[last], last, expecting: type) else { return nil }
        return Node(type ?? otherwise.type, .caseWhen, arguments + [otherwise])
    }

    private static func match(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard items.count >= 5 else {
            return context.fail("Expected at least 4 arguments, but found only \(items.count - 1).")
        }
        guard items.count % 2 == 1 else { return context.fail("Expected an even number of arguments.") }
        var (labels, type) = (MatchLabels(), context.outputType)
        var outputs: [Node] = []
        for index in stride(from: 2, to: items.count - 1, by: 2) {
            guard labels.add(items[index], for: outputs.count, context.at(index)),
                let output = context.parse(items[index + 1], index, expecting: type)
            else { return nil }
            type = type ?? output.type
            outputs.append(output)
        }
        let last = items.count - 1
        guard let input = context.parse(items[1], 1, expecting: .value),
            let otherwise = context.parse(items[last], last, expecting: type),
            let inputType = labels.type
        else { return nil }
        if input.type != .value, !context.at(1).check(inputType, accepts: input.type) { return nil }
        let outputsByLabel = labels.outputs
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            let input = try context.evaluate(arguments[0])
            try context.charge(reading: input)
            let output =
                ExpressionType.of(input) == inputType ? MatchLabel(input).flatMap { outputsByLabel[$0] } : nil
            return try context.evaluate(arguments[output.map { $0 + 1 } ?? arguments.count - 1])
        }
        return Node(type ?? otherwise.type, .lazy(evaluate), [input] + outputs + [otherwise])
    }

    private static func coalesce(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard items.count >= 2 else { return context.fail("Expected at least one argument.") }
        var type = context.outputType
        var arguments: [Node] = []
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
        return Node(isOpen ? .value : type ?? .value, .coalesce, arguments)
    }
}
