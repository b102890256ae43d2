// SPDX-License-Identifier: MIT
import JSON

/// Operators on arrays and strings: `at`, `in`, `index-of`, `slice` and `length`.
enum SequenceOperators {
    static let definitions: [String: OperatorDefinition] = [
        "at": OperatorDefinition { context, _, items in at(context, items) },
        "in": OperatorDefinition { context, _, items in isIn(context, items) },
        "index-of": OperatorDefinition { context, _, items in indexOf(context, items) },
        "slice": OperatorDefinition { context, _, items in slice(context, items) },
        "length": OperatorDefinition { context, _, items in length(context, items) },
    ]

    private static func at(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard items.count == 3 else {
            return context.fail("Expected 2 arguments, but found \(items.count - 1) instead.")
        }
        let index = context.parse(items[1], 1, expecting: .number)
        let array = context.parse(items[2], 2, expecting: .array(context.expected ?? .value, nil))
        guard let index, let array else { return nil }
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            try context.at(arguments)
        }
        // The element of an expression that always fails also always fails.
        guard case .array(let item, _) = array.type else {
            return Node(array.type, .lazy(evaluate), [index, array])
        }
        return Node(item, .lazy(evaluate), [index, array])
    }

    private static func isIn(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard items.count == 3 else {
            return context.fail("Expected 2 arguments, but found \(items.count - 1) instead.")
        }
        guard let arguments = needleAndHaystack(context, items) else { return nil }
        return Node(.boolean, .isIn, arguments)
    }

    private static func indexOf(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard (3...4).contains(items.count) else {
            return context.fail("Expected 2 or 3 arguments, but found \(items.count - 1) instead.")
        }
        guard var arguments = needleAndHaystack(context, items) else { return nil }
        if items.count == 4 {
            guard let start = context.parse(items[3], 3, expecting: .number) else { return nil }
            arguments.append(start)
        }
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            try context.indexOf(arguments)
        }
        return Node(.number, .lazy(evaluate), arguments)
    }

    private static func needleAndHaystack(_ context: ParsingContext, _ items: [JSONValue]) -> [Node]? {
        let needle = context.parse(items[1], 1, expecting: .value)
        let haystack = context.parse(items[2], 2, expecting: .value)
        guard let needle, let haystack else { return nil }
        switch needle.type {
        case .boolean, .string, .number, .null, .value: return [needle, haystack]
        default:
            context.note(
                "Expected first argument to be of type boolean, string, number or null, "
                    + "but found \(needle.type.name) instead")
            return nil
        }
    }

    private static func slice(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard (3...4).contains(items.count) else {
            return context.fail("Expected 2 or 3 arguments, but found \(items.count - 1) instead.")
        }
        let input = context.parse(items[1], 1, expecting: .value)
        let start = context.parse(items[2], 2, expecting: .number)
        guard let input, let start else { return nil }
        switch input.type {
        case .array, .string, .value: break
        default:
            return context.fail(
                "Expected first argument to be of type array or string, but found \(input.type.name) instead")
        }
        var arguments = [input, start]
        if items.count == 4 {
            guard let end = context.parse(items[3], 3, expecting: .number) else { return nil }
            arguments.append(end)
        }
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            try context.slice(arguments)
        }
        return Node(input.type, .lazy(evaluate), arguments)
    }

    private static func length(_ context: ParsingContext, _ items: [JSONValue]) -> Node? {
        guard items.count == 2 else {
            return context.fail("Expected 1 argument, but found \(items.count - 1) instead.")
        }
        guard let input = context.parse(items[1], 1) else { return nil }
        switch input.type {
        case .array, .string, .value: break
        default:
            return context.fail(
                "Expected argument of type string or array, but found \(input.type.name) instead.")
        }
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            try context.length(arguments)
        }
        return Node(.number, .lazy(evaluate), [input])
    }
}
