// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import SourceStorage
import SystemSupport

/// The count of values that are not null: `["count", map]`.
package struct CountAggregate: Aggregate {
    package static let operators = ["count"]

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
    }

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        let counts = try tree.fold(values.presences, zero: 0, by: CountFold())
        return (Column(ClusterValues(counts)), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == Column.kind ? Column(try stored.clusterValues(0)) : nil
    }

    package var followsUpdates: Bool { true }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? {
        guard let column = column as? Column else { return nil }
        return Column(update.extend(column.counts, values.presences) { $0 &+ $1 })
    }

    package final class Column: AggregateColumn {
        static let kind = "counts"
        fileprivate let counts: ClusterValues<UInt32>

        fileprivate init(_ counts: ClusterValues<UInt32>) { self.counts = counts }

        package var kind: String { Self.kind }
        package var valueType: AggregateValueType { .number }
        package var memoryBytes: Int { counts.memoryBytes }

        package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
            bytes.append(integer: counts[cluster])
        }

        package func store(in section: AggregateSection) throws(FileError) { try section.add(0, counts) }
    }
}
