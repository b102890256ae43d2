// SPDX-License-Identifier: MIT
import JSON

/// The operators that a context parses.
struct OperatorSet: Sendable {
    let definitions: [String: OperatorDefinition]
    /// Operators of the specification that need a rendered map.
    let excluded: Set<String>
}

/// An operator: how a use of it is parsed and type-checked.
struct OperatorDefinition: Sendable {
    /// `items` is the whole expression: the operator's name, then its operands. If it returns nil, it has
    /// recorded an error.
    let parse: @Sendable (_ context: ParsingContext, _ name: String, _ items: [JSONValue]) -> ExpressionNode?

    /// An operator that needs its own parsing.
    init(
        _ parse:
            @escaping @Sendable (_ context: ParsingContext, _ name: String, _ items: [JSONValue]) ->
            ExpressionNode?
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

/// The types of an operator's operands and of its value, and what it does.
struct Signature: Sendable {
    enum Parameters: Sendable {
        case fixed([ExpressionType])
        /// Any number of operands of one type.
        case any(ExpressionType)
    }

    let result: ExpressionType
    let parameters: Parameters
    /// The name of the compiled operator, if it is not the written one.
    let name: String?
    let evaluate: Operation.Evaluate

    init(
        _ result: ExpressionType, _ parameters: Parameters, name: String? = nil,
        _ evaluate: @escaping Operation.Evaluate
    ) {
        self.result = result
        self.parameters = parameters
        self.name = name
        self.evaluate = evaluate
    }

    func takes(_ count: Int) -> Bool {
        switch parameters {
        case .fixed(let types): types.count == count
        case .any: true
        }
    }

    func parameter(_ index: Int) -> ExpressionType {
        switch parameters {
        case .fixed(let types): index < types.count ? types[index] : .value
        case .any(let type): type
        }
    }

    var text: String {
        switch parameters {
        case .fixed(let types): "(" + types.map(\.name).joined(separator: ", ") + ")"
        case .any(let type): "(\(type.name)...)"
        }
    }
}
