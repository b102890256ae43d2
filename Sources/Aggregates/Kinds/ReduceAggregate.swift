// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// A reduce expression, which may read other aggregated properties: `[reduce, map]`.
package struct ReduceAggregate: Aggregate {
    /// None: a definition without a known operator is a reduce expression.
    package static let operators: [String] = []

    private let expression: Expression

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        guard let name = definition.operatorName else {
            expression = try definition.compile(0, .reduce)
            return
        }
        // Any operator of two values can be the reduce expression.
        do {
            expression = try Expression(
                compiling: AggregateDefinition.writtenOut(name, definition.name), purpose: .reduce)
        } catch {
            throw AggregateDefinition.fault(
                "[0]", "\"\(name)\" cannot fold values: \(error.errors.first?.message ?? "")")
        }
    }

    package func reducer(for name: String) -> Expression? { expression }

    /// `ReduceFolder` folds all properties together, since the expression may read the others. This function folds one
    /// property by itself.
    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        let reduced = try ReduceFolder(index: tree.index, cancellation: tree.cancellation)
            .fold([(name: "", reducer: expression)], [values])
        return (Column(reduced.columns[0]), reduced.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == Column.kind ? Column(try stored.values(0, count: stored.clusters)) : nil
    }

    /// Values of any type.
    package final class Column: AggregateColumn {
        static let kind = "values"
        private let values: [JSONValue]

        init(_ values: [JSONValue]) { self.values = values }

        package var kind: String { Self.kind }
        package var valueType: AggregateValueType { .mixed }
        package var memoryBytes: Int { values.count * MemoryLayout<JSONValue>.stride }

        package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
            bytes.append(values[Int(cluster.rawValue)])
        }

        package func store(in section: AggregateSection) throws(FileError) { try section.add(0, values) }
    }
}
