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
    ) -> Node? {
        let unused: Operation.Evaluate = { _, _ throws(EvaluationError) in .null }
        let signatures = [
            Signature(.boolean, .fixed([.boolean, .boolean]), unused),
            Signature(.boolean, .any(.boolean), unused),
        ]
        guard let node = context.parse(name, items, by: signatures) else { return nil }
        return Node(.boolean, operation, node.arguments)
    }
}
