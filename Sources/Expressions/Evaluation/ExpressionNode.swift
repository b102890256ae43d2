// SPDX-License-Identifier: MIT
import JSON

/// A part of a compiled expression.
///
/// Immutable, and shared between threads.
final class ExpressionNode: Sendable {
    let type: ExpressionType
    let operation: Operation
    /// The parts that are evaluated by this one.
    let arguments: [ExpressionNode]

    init(_ type: ExpressionType, _ operation: Operation, _ arguments: [ExpressionNode] = []) {
        self.type = type
        self.operation = operation
        self.arguments = arguments
    }

    var literal: JSONValue? {
        guard case .literal(let value) = operation else { return nil }
        return value
    }

    var isLiteral: Bool { literal != nil }
}

/// What a node does.
enum Operation: Sendable {
    case literal(JSONValue)
    /// Returns the first argument that has the node's type.
    case assertion
    /// Converts the arguments to the node's type.
    case coercion
    /// An operator whose arguments are evaluated first, with its name.
    case compound(String, Evaluate)
    /// An operator that evaluates its arguments itself.
    case lazy(EvaluateLazily)
    case all, any
    /// Arguments: the value to find, and the string or array.
    case isIn
    /// Arguments: conditions and their outputs, and the output if none is true.
    case caseWhen
    case coalesce
    case comparison(Comparison)
    /// Arguments: bound values, and the result.
    case bind
    /// Argument: the bound value. The bindings of an expression are numbered.
    case variable(binding: Int)

    typealias Evaluate =
        @Sendable (_ arguments: [JSONValue], _ context: EvaluationContext) throws(EvaluationError) -> JSONValue
    typealias EvaluateLazily =
        @Sendable (_ arguments: [ExpressionNode], _ context: EvaluationContext) throws(EvaluationError) -> JSONValue
}
