// SPDX-License-Identifier: MIT
import JSON

/// `all`, `any` and `!`.
enum LogicOperators {
    static let definitions: [String: OperatorDefinition] = [
        "all": OperatorDefinition { context, name, items in parse(context, name, items, .all) },
        "any": OperatorDefinition { context, name, items in parse(context, name, items, .any) },
        "!": OperatorDefinition(
            Signature(.boolean, .fixed([.boolean])) { arguments, _ throws(EvaluationError) in
                .bool(arguments[0] == .bool(false))
            }),
    ]

    /// Operands are evaluated only until the result is known, so the signatures' own evaluation is not used.
    /// MapLibre has a separate signature for two operands, which appears in its messages.
    private static func parse(
        _ context: ParsingContext, _ name: String, _ items: [JSONValue], _ operation: Operation
    ) -> ExpressionNode? {
        let unused: Operation.Evaluate = { _, _ throws(EvaluationError) in .null }
        let signatures = [
            Signature(.boolean, .fixed([.boolean, .boolean]), unused), Signature(.boolean, .any(.boolean), unused),
        ]
        guard let node = context.parse(name, items, by: signatures) else { return nil }
        return ExpressionNode(.boolean, operation, node.arguments)
    }
}

/// `==`, `!=`, `<`, `>`, `<=` and `>=`.
enum ComparisonOperators {
    static let definitions = Dictionary(
        uniqueKeysWithValues: Comparison.allCases.map { comparison in
            (comparison.rawValue, OperatorDefinition { context, _, items in parse(context, comparison, items) })
        })

    private static func parse(_ context: ParsingContext, _ comparison: Comparison, _ items: [JSONValue])
        -> ExpressionNode?
    {
        guard items.count == 3 || items.count == 4 else {
            return context.fail("Expected two or three arguments.")
        }
        guard var left = operand(context, items[1], 1, of: comparison),
            var right = operand(context, items[2], 2, of: comparison)
        else { return nil }
        if left.type.kind != right.type.kind, left.type != .value, right.type != .value {
            return context.fail("Cannot compare types '\(left.type.name)' and '\(right.type.name)'.")
        }
        if comparison.isOrder {
            if left.type == .value, right.type != .value {
                left = ExpressionNode(right.type, .assertion, [left])
            }
            if left.type != .value, right.type == .value {
                right = ExpressionNode(left.type, .assertion, [right])
            }
        }
        if items.count == 4 {
            guard [left.type, right.type].contains(where: { $0 == .string || $0 == .value }) else {
                return context.fail("Cannot use collator to compare non-string types.")
            }
            // Collators are not supported; the operator is rejected by name.
            guard let node = context.parse(items[3], 3) else { return nil }
            return context.at(3).fail("Expected collator but found \(node.type.name) instead.")
        }
        return ExpressionNode(.boolean, .comparison(comparison), [left, right])
    }

    private static func operand(
        _ context: ParsingContext, _ value: JSONValue, _ index: Int, of comparison: Comparison
    ) -> ExpressionNode? {
        guard let node = context.parse(value, index, expecting: .value) else { return nil }
        let isComparable =
            switch node.type {
            case .string, .number, .value: true
            case .boolean, .null: !comparison.isOrder
            default: false
            }
        guard isComparable else {
            return context.at(index).fail(
                "\"\(comparison.rawValue)\" comparisons are not supported for type '\(node.type.name)'.")
        }
        return node
    }
}
