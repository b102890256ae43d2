// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// The mean of the numbers: `["mean", map]`.
package struct MeanAggregate: Aggregate {
    package static let operators = ["mean"]

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
    }

    package func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate {
        let sums = try tree.fold(values.summands, zero: 0, by: SumFold())
        let counts = try tree.fold(values.numberCounts, zero: 0, by: SumFold())
        return (Column(sums: ClusterValues(sums), counts: ClusterValues(counts)), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        guard kind == Column.kind else { return nil }
        return Column(sums: try stored.clusterValues(0), counts: try stored.clusterValues(1))
    }

    package var followsUpdates: Bool { true }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? {
        guard let column = column as? Column else { return nil }
        return Column(
            sums: update.extend(column.sums, values.summands, by: SumFold()),
            counts: update.extend(column.counts, values.numberCounts, by: SumFold()))
    }

    /// The sums and the counts of numbers.
    package final class Column: AggregateColumn {
        static let kind = "means"
        fileprivate let sums: ClusterValues<Double>
        fileprivate let counts: ClusterValues<UInt32>

        fileprivate init(sums: ClusterValues<Double>, counts: ClusterValues<UInt32>) {
            self.sums = sums
            self.counts = counts
        }

        package var kind: String { Self.kind }
        package var valueType: AggregateValueType { .number }
        package var memoryBytes: Int { sums.memoryBytes + counts.memoryBytes }

        package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
            bytes.append(number: sums[cluster] / Double(counts[cluster]))
        }

        package func store(in section: AggregateSection) throws(FileError) {
            try section.add(0, sums)
            try section.add(1, counts)
        }
    }
}
