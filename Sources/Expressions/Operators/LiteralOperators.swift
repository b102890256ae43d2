// SPDX-License-Identifier: MIT
import JSON

/// `literal`, and `semiliteral`: an array whose elements are expressions, or any other value as a literal.
enum LiteralOperators {
    static let definitions: [String: OperatorDefinition] = [
        "literal": OperatorDefinition { context, name, items in literal(context, name, items) },
        "semiliteral": OperatorDefinition { context, name, items in semiliteral(context, name, items) },
    ]

    private static func literal(_ context: ParsingContext, _ name: String, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count == 2 else {
            return context.fail(
                "'\(name)' expression requires exactly one argument, but found \(items.count - 1) instead.")
        }
        let value = items[1]
        var type = ExpressionType.of(value)
        // An empty array has the type of the expected array.
        if case .array(_, 0?) = type, let expected = context.expected, case .array(_, let count) = expected,
            count == nil || count == 0
        {
            type = expected
        }
        return ExpressionNode(type, .literal(value))
    }

    private static func semiliteral(_ context: ParsingContext, _ name: String, _ items: [JSONValue]) -> ExpressionNode?
    {
        guard items.count == 2, case .array(let elements) = items[1] else {
            return literal(context, name, items)
        }
        guard let arguments = context.at(1).operands(elements, from: 0) else { return nil }
        let type = ExpressionType.array(commonType(arguments.map(\.type)), arguments.count)
        return ExpressionNode(type, .lazy(array), arguments)
    }

    /// The type of all elements. Two arrays never have the same type here, as in MapLibre.
    private static func commonType(_ types: [ExpressionType]) -> ExpressionType {
        guard let first = types.first else { return .value }
        if types.count > 1, case .array = first { return .value }
        return types.allSatisfy { $0 == first } ? first : .value
    }

    /// The elements' values as an array. Its size and depth are limited, because it may contain a variable
    /// many times, or an accumulated value, and these may be such arrays themselves.
    private static let array: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
        var items: [JSONValue] = []
        items.reserveCapacity(arguments.count)
        for argument in arguments { items.append(try context.evaluate(argument)) }
        var room = ExpressionLimits.stringBytes
        guard items.allSatisfy({ fits($0, &room) }) else {
            throw EvaluationError("An array may have \(ExpressionLimits.stringBytes) bytes at most.")
        }
        guard !items.contains(where: { isNested($0, beyond: ExpressionLimits.valueDepth - 1) }) else {
            throw EvaluationError("An array may be nested \(ExpressionLimits.valueDepth) levels deep at most.")
        }
        for item in items { try context.charge(readingAllOf: item) }
        return .array(items)
    }

    /// Whether a value has more than a number of levels of arrays and objects.
    private static func isNested(_ value: JSONValue, beyond levels: Int) -> Bool {
        switch value {
        case .array(let items): levels == 0 || items.contains { isNested($0, beyond: levels - 1) }
        case .object(let object):
            levels == 0 || object.members.contains { isNested($0.value, beyond: levels - 1) }
        default: false
        }
    }

    /// Whether a value fits: each value takes one byte, and strings their bytes.
    private static func fits(_ value: JSONValue, _ room: inout Int) -> Bool {
        room -= 1
        switch value {
        case .string(let text): room -= text.utf8.count
        case .array(let items): return room >= 0 && items.allSatisfy { fits($0, &room) }
        case .object(let object): return room >= 0 && object.members.allSatisfy { fits($0.value, &room) }
        default: break
        }
        return room >= 0
    }
}
