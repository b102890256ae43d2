// SPDX-License-Identifier: MIT
import JSON

/// An operator: how a use of it is parsed and type-checked.
struct OperatorDefinition: Sendable {
    /// `items` is the whole expression: the operator's name, then its operands. If it returns nil, it has
    /// recorded an error.
    let parse: @Sendable (_ context: ParsingContext, _ name: String, _ items: [JSONValue]) -> Node?

    /// An operator that needs its own parsing.
    init(
        _ parse:
            @escaping @Sendable (_ context: ParsingContext, _ name: String, _ items: [JSONValue]) -> Node?
    ) {
        self.parse = parse
    }

    /// An operator whose operands are all evaluated before it runs.
    ///
    /// - Parameters:
    ///   - signatures: the first one that fits the operands is used.
    ///   - rejection: returns why it may not be used for a purpose; nil if it may.
    init(
        _ signatures: Signature...,
        rejection: @escaping @Sendable (ExpressionPurpose) -> String? = { _ in nil }
    ) {
        parse = { context, name, items in
            if let reason = rejection(context.purpose) { return context.fail(reason, 0) }
            return context.parse(name, items, by: signatures)
        }
    }
}
