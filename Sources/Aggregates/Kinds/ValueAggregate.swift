// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import ImageStore
import JSON
import SystemSupport

/// An aggregate with one stored value for each cluster, folded from its children's values.
package protocol ValueAggregate: Aggregate {
    associatedtype Fold: NodeFold

    /// The name of the column's layout in snapshots: part of the format.
    static var columnKind: String { get }
    static var valueType: AggregateValueType { get }
    static var write: @Sendable (Fold.Value, inout ByteWriter) -> Void { get }

    var step: Fold { get }

    /// The points' values in the form that `step` folds.
    func points(_ values: RowValues) -> [Fold.Value]
    /// Whether a cluster's value is null, so that only a fold of all clusters counts the causes.
    func isNull(_ value: Fold.Value) -> Bool
}

extension ValueAggregate {
    package static func column(_ values: ClusterValues<Fold.Value>) -> ValueColumn<Fold.Value> {
        ValueColumn(columnKind, valueType, values, write)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == columnKind ? column(try stored.clusterValues(0)) : nil
    }

    package func isNull(_ value: Fold.Value) -> Bool { false }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? {
        guard let known = (column as? ValueColumn<Fold.Value>)?.values else { return nil }
        let folded = update.extend(known, points(values), by: step)
        return folded.contains(from: known.count, where: isNull) ? nil : Self.column(folded)
    }
}

/// A column with one stored value for each cluster.
package final class ValueColumn<Value: BitwiseCopyable & Sendable>: AggregateColumn {
    package let kind: String
    package let valueType: AggregateValueType
    let values: ClusterValues<Value>
    private let format: @Sendable (Value, inout ByteWriter) -> Void

    /// - Parameter format: writes a value as JSON.
    init(
        _ kind: String, _ valueType: AggregateValueType, _ values: ClusterValues<Value>,
        _ format: @escaping @Sendable (Value, inout ByteWriter) -> Void
    ) {
        (self.kind, self.valueType, self.values, self.format) = (kind, valueType, values, format)
    }

    package var memoryBytes: Int { values.memoryBytes }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        format(values[cluster], &bytes)
    }

    package func store(in section: AggregateSection) throws(FileError) { try section.add(0, values) }
}
