// SPDX-License-Identifier: MIT
import Expressions
import SourceStorage

/// A way to make one value for each cluster from its points' values.
///
/// Each has one file in `Kinds/` and one line in `AggregateTable.kinds`. That file says how the aggregate is defined,
/// folded, written, stored and kept through updates.
package protocol Aggregate: Sendable {
    /// The operators that name it in definitions, such as `mean` in `["mean", map]`.
    static var operators: [String] { get }

    /// Reads a definition whose first part is one of `operators`.
    ///
    /// - Throws: what is wrong with the parts between the operator and the map.
    init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure)

    /// The value of each cluster of a tree.
    func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate

    /// Reads a column that was stored under this kind; nil if the kind is another aggregate's.
    static func load(_ kind: String, from stored: StoredAggregate) throws(StateFault) -> (
        any AggregateColumn
    )?

    /// Whether `extend` can work. If not, an update folds all clusters again.
    var followsUpdates: Bool { get }

    /// Adds the clusters that an update made, from their children's values.
    ///
    /// - Returns: nil if a value is null, whose causes only a fold of all clusters counts.
    func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)?

    /// The reduce expression that gives the same values; nil if there is none.
    func reducer(for name: String) -> Expression?
}

extension Aggregate {
    package var followsUpdates: Bool { false }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? { nil }

    package func reducer(for name: String) -> Expression? { nil }
}

/// An aggregated property's column, and how many errors there were by message.
package typealias FoldedAggregate = (column: any AggregateColumn, errors: [String: Int])
