// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// The count of values that are not null: `["count", map]`.
package struct CountAggregate: ValueAggregate {
    package static let operators = ["count"]

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
    }

    package func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate {
        let counts = try tree.fold(points(values), zero: 0, by: step)
        return (Self.column(ClusterValues(counts)), values.errors)
    }

    package static let columnKind = "counts"
    package static let valueType = AggregateValueType.number
    package static let write: @Sendable (UInt32, inout ByteWriter) -> Void = { $1.append(integer: $0) }

    package var step: SumFold<UInt32> { SumFold() }
    package func points(_ values: RowValues) -> [UInt32] { values.presences }
    package var followsUpdates: Bool { true }
}

/// Sums of numbers or counts.
package struct SumFold<Value: BitwiseCopyable & Sendable & Numeric>: NodeFold {
    package func fold(_ first: Value, _ second: Value) -> Value { first + second }
}
