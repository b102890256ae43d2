// SPDX-License-Identifier: MIT
import JSON

/// Assertions (`array`, `string`, `number`, `boolean`, `object`), conversions (`to-string`, `to-number`,
/// `to-boolean`) and `typeof`.
enum TypeOperators {
    static let definitions: [String: OperatorDefinition] = [
        "array": OperatorDefinition { context, _, items in arrayAssertion(context, items) },
        "string": assertion(.string),
        "number": assertion(.number),
        "boolean": assertion(.boolean),
        "object": assertion(.object),
        "to-string": conversion(.string),
        "to-number": conversion(.number),
        "to-boolean": conversion(.boolean),
        "typeof": OperatorDefinition(
            Signature(.string, .fixed([.value])) { arguments, _ throws(EvaluationError) in
                .string(ExpressionType.of(arguments[0]).name)
            }),
    ]

    private static func assertion(_ type: ExpressionType) -> OperatorDefinition {
        OperatorDefinition { context, _, items in assertion(context, items, type, from: 1) }
    }

    private static func assertion(
        _ context: ParsingContext, _ items: [JSONValue], _ type: ExpressionType, from start: Int
    ) -> ExpressionNode? {
        guard items.count >= 2 else { return context.fail("Expected at least one argument.") }
        guard let arguments = context.operands(items, from: start) else { return nil }
        return ExpressionNode(type, .assertion, arguments)
    }

    /// `["array", value]`, `["array", item type, value]` or `["array", item type, length, value]`.
    private static func arrayAssertion(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count > 2 else { return assertion(context, items, .array(.value, nil), from: 1) }
        let itemTypes: [String: ExpressionType] = ["string": .string, "number": .number, "boolean": .boolean]
        guard case .string(let name) = items[1], let item = itemTypes[name] else {
            return context.fail("The item type argument of \"array\" must be one of string, number, boolean", 1)
        }
        guard items.count > 3 else { return assertion(context, items, .array(item, nil), from: 2) }
        switch items[2] {
        case .null: return assertion(context, items, .array(item, nil), from: 3)
        case .number(let number) where number >= 0:
            guard let count = Int(exactly: number) else { break }
            return assertion(context, items, .array(item, count), from: 3)
        default: break
        }
        return context.fail("The length argument to \"array\" must be a positive integer literal", 2)
    }

    private static func conversion(_ type: ExpressionType) -> OperatorDefinition {
        OperatorDefinition { context, _, items in
            guard items.count >= 2 else { return context.fail("Expected at least one argument.") }
            guard type == .number || items.count == 2 else { return context.fail("Expected one argument.") }
            guard let arguments = context.operands(items, from: 1) else { return nil }
            return ExpressionNode(type, .coercion, arguments)
        }
    }
}
