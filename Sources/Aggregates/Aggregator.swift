// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import SystemSupport

/// Computes all aggregated properties of a view.
package struct Aggregator {
    package let index: ClusterIndex
    package let rows: RowSource
    package let threads: Int
    package let cancellation: Cancellation

    package init(index: ClusterIndex, rows: RowSource, threads: Int, cancellation: Cancellation) {
        self.index = index
        self.rows = rows
        self.threads = threads
        self.cancellation = cancellation
    }

    /// The columns in the properties' order, with errors by message.
    package func aggregate(
        _ properties: [ClusterProperty]
    ) throws(EvaluationStop) -> (aggregates: [NamedAggregate], errors: [String: Int]) {
        let outcomes =
            properties.contains(where: \.isReduced)
            ? try withReduced(properties)
            : try inParallel(properties) { (property) throws(EvaluationStop) in try fold(property) }
        var errors: [String: Int] = [:]
        var aggregates: [NamedAggregate] = []
        for (property, outcome) in zip(properties, outcomes) {
            errors.merge(outcome.errors, uniquingKeysWith: +)
            aggregates.append(NamedAggregate(name: property.name, column: outcome.column))
        }
        return (aggregates, errors)
    }

    private var tree: HierarchyFold {
        HierarchyFold(index: index, threads: threads, cancellation: cancellation)
    }

    private func fold(_ property: ClusterProperty) throws(EvaluationStop) -> FoldedAggregate {
        try cancellation.stopIfCancelled()
        // The numbers of a property are folded where they are, in its column.
        guard let aggregate = property.aggregate as? NumberAggregate else {
            return try property.aggregate.fold(property.map.values(rows), over: tree)
        }
        return try aggregate.fold(property.map.numbers(rows), over: tree) { () throws(EvaluationStop) in
            try property.map.values(rows)
        }
    }

    /// Runs a closure for each property, in parallel if there are many rows.
    private func inParallel<Value: Sendable>(
        _ properties: [ClusterProperty], _ body: (ClusterProperty) throws(EvaluationStop) -> Value
    ) throws(EvaluationStop) -> [Value] {
        let isSmall = rows.rows.count < Self.smallestParallel
        let results = withoutActuallyEscaping(body) { body in
            let work = Shared(body)
            return Parallel(.shared, threads: isSmall ? 1 : threads).map(below: properties.count) { position in
                Result { () throws(EvaluationStop) in try work.value(properties[position]) }
            }
        }
        return try results.map { (result) throws(EvaluationStop) in try result.get() }
    }

    private static let smallestParallel = 20_000

    /// Carries a closure to other threads.
    ///
    /// `@unchecked Sendable` holds because the closure captures only immutable values here: columns, expressions, an
    /// index.
    private struct Shared<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Computes all properties together if one has a reduce expression, which may read the others.
    private func withReduced(
        _ properties: [ClusterProperty]
    ) throws(EvaluationStop) -> [FoldedAggregate] {
        let mapped = try inParallel(properties) { (property) throws(EvaluationStop) in
            try property.map.values(rows)
        }
        let reduced = try ReduceFolder(index: index, cancellation: cancellation)
            .fold(properties.map { ($0.name, $0.aggregate.reducer(for: $0.name)) }, mapped)
        var outcomes: [FoldedAggregate] = []
        var errors = reduced.errors
        for (position, property) in properties.enumerated() {
            if property.isReduced {
                errors.merge(mapped[position].errors, uniquingKeysWith: +)
                outcomes.append((ReduceAggregate.Column(reduced.columns[position]), errors))
                errors = [:]
            } else {
                outcomes.append(try property.aggregate.fold(mapped[position], over: tree))
            }
        }
        return outcomes
    }
}

extension ClusterProperty {
    fileprivate var isReduced: Bool { aggregate is ReduceAggregate }
}
