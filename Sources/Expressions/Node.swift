// SPDX-License-Identifier: MIT
import JSON

/// A part of a compiled expression.
///
/// Immutable, and shared between threads.
final class Node: Sendable {
    let type: ExpressionType
    let operation: Operation
    /// The parts that are evaluated by this one.
    let arguments: [Node]

    init(_ type: ExpressionType, _ operation: Operation, _ arguments: [Node] = []) {
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
    /// The first argument that is of the node's type.
    case assertion
    /// The arguments turned to the node's type.
    case coercion
    /// A simple operator: its arguments are evaluated, then it.
    case compound(String, Evaluate)
    case all, any
    case at, isIn, indexOf, slice, length, semiliteral
    case caseWhen
    /// Arguments: the input, outputs, and what else.
    case match(inputType: ExpressionType, cases: [MatchLabel: Int])
    case coalesce
    /// Arguments: the input, then outputs.
    case step(stops: [Double])
    case interpolate(Interpolation, stops: [Double])
    /// Arguments: bound values, and the result.
    case bind
    /// Argument: what is bound. Bindings of one expression are numbered.
    case variable(binding: Int)
    case comparison(Comparison)
    case numberFormat(NumberFormatArguments)

    typealias Evaluate =
        @Sendable (_ arguments: [JSONValue], _ context: EvaluationContext) throws(EvaluationError) ->
        JSONValue
}

/// A label of `match`: equality is of bytes.
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

/// Which operands a comparison is true of.
enum Comparison: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case greater = ">"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="

    var isOrder: Bool { self != .equal && self != .notEqual }
}
