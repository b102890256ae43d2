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
