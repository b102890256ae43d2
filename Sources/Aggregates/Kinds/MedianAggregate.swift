// SPDX-License-Identifier: MIT
import Expressions
import SourceStorage

/// The median of the numbers: `["median", map]`.
package struct MedianAggregate: Aggregate {
    package static let operators = ["median"]
    private static let columnKind = "median"

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
    }

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        (QuantileColumn(Self.columnKind, values, [0.5], isSingle: true), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == columnKind ? try QuantileColumn(kind, from: stored, isSingle: true) : nil
    }
}
