// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SourceStorage

/// The definition of an aggregated property: an operator or a reduce expression, an optional argument, and the map expression.
package struct AggregateDefinition {
    package let name: String
    /// Two or three values; the last is the map.
    package let parts: [JSONValue]

    /// The operator's name; nil for a reduce expression.
    package var operatorName: String? {
        if case .string(let text) = parts[0] { text } else { nil }
    }

    /// The argument between the operator and the map; nil if there is none.
    package var argument: JSONValue? { parts.count == 3 ? parts[1] : nil }

    /// Throws if there is an argument between the operator and the map.
    package func rejectArgument() throws(ExpressionCompileFailure) {
        guard argument != nil else { return }
        throw Self.fault("[0]", "with an initial value the operator must be one of +, *, max, min, all, any.")
    }

    package func compile(
        _ index: Int, _ purpose: ExpressionPurpose
    ) throws(ExpressionCompileFailure) -> Expression {
        do {
            return try Expression(compiling: parts[index], purpose: purpose)
        } catch {
            throw ExpressionCompileFailure(
                errors: error.errors.map { ExpressionError(key: "[\(index)]\($0.key)", message: $0.message) })
        }
    }

    package static func fault(_ key: String, _ message: String) -> ExpressionCompileFailure {
        ExpressionCompileFailure(errors: [ExpressionError(key: key, message: message)])
    }

    /// The reduce expression that an operator stands for.
    package static func writtenOut(_ operatorName: String, _ name: String) -> JSONValue {
        .array([
            .string(operatorName), .array([.string("accumulated")]), .array([.string("get"), .string(name)]),
        ])
    }
}
