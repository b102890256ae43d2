// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// A kind of aggregate: computes one value for each cluster from its points' values.
///
/// Each kind has a type in `Kinds/` and one line in `AggregateTable.kinds`. The type contains how the aggregate is
/// defined, folded, written, stored and maintained through updates.
package protocol Aggregate: Sendable {
    /// Its operators in definitions, such as `mean` in `["mean", map]`.
    static var operators: [String] { get }

    /// Reads a definition that begins with one of `operators`.
    ///
    /// - Throws: what is wrong with the parts between the operator and the map.
    init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure)

    /// Computes the value of each cluster of a tree.
    func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate

    /// Reads a stored column; nil if its kind belongs to another aggregate.
    static func load(_ kind: String, from stored: StoredAggregate) throws(StateFault) -> (any AggregateColumn)?

    /// Whether `extend` is supported. If not, an update folds all clusters again.
    var followsUpdates: Bool { get }

    /// Adds the values of clusters that an update made, from their children's values.
    ///
    /// - Returns: nil if a value is null, since only a fold of all clusters counts the causes.
    func extend(_ column: any AggregateColumn, with values: RowValues, in update: LiveFold) -> (any AggregateColumn)?

    /// The equivalent reduce expression; nil if there is none.
    func reducer(for name: String) -> Expression?
}

extension Aggregate {
    package var followsUpdates: Bool { false }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? { nil }

    package func reducer(for name: String) -> Expression? { nil }
}

/// An aggregated property's column, and the number of errors by message.
package typealias FoldedAggregate = (column: any AggregateColumn, errors: [String: Int])

extension Cancellation {
    /// Throws `cancelled` if nobody waits for the result any more.
    package func stopIfCancelled() throws(EvaluationStop) {
        if isCancelled { throw .cancelled }
    }
}

/// The definition of an aggregated property: an operator or a reduce expression, an optional argument, and the map
/// expression.
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
        .array([.string(operatorName), .array([.string("accumulated")]), .array([.string("get"), .string(name)])])
    }
}
