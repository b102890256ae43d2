// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import Synchronization
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
        let isNumeric = !properties.contains(where: \.isReduced)
        let numeric = properties.indices.filter { isNumeric && properties[$0].aggregate is NumberAggregate }
        var outcomes = try others(properties, except: Set(numeric))
        for start in stride(from: 0, to: numeric.count, by: NumberLanes.most) {
            let group = Array(numeric[start..<min(start + NumberLanes.most, numeric.count)])
            for (position, outcome) in zip(group, try numbers(group.map { properties[$0] })) {
                outcomes[position] = outcome
            }
        }
        var errors: [String: Int] = [:]
        var aggregates: [NamedAggregate] = []
        for (position, property) in properties.enumerated() {
            guard let outcome = outcomes[position] else { continue }
            errors.merge(outcome.errors, uniquingKeysWith: +)
            aggregates.append(NamedAggregate(name: property.name, column: outcome.column))
        }
        return (aggregates, errors)
    }

    private var tree: HierarchyFold {
        HierarchyFold(index: index, threads: threads, cancellation: cancellation)
    }

    /// The columns of properties whose numbers an operator folds, a few at a time.
    private func numbers(_ properties: [ClusterProperty]) throws(EvaluationStop) -> [FoldedAggregate] {
        let mapped = try inParallel(properties.count) { (position) throws(EvaluationStop) -> RowNumbers in
            try properties[position].map.numbers(rows)
        }
        let aggregates = properties.compactMap { $0.aggregate as? NumberAggregate }
        return try NumberAggregate.fold(aggregates, mapped, over: tree) { (position) throws(EvaluationStop) in
            try properties[position].map.values(rows)
        }
    }

    /// The columns of all other properties, by their position.
    private func others(
        _ properties: [ClusterProperty], except numeric: Set<Int>
    ) throws(EvaluationStop) -> [Int: FoldedAggregate] {
        let places = properties.indices.filter { !numeric.contains($0) }
        guard !places.isEmpty else { return [:] }
        let properties = places.map { properties[$0] }
        let mapped = try inParallel(properties.count) { (position) throws(EvaluationStop) -> RowValues in
            try properties[position].map.values(rows)
        }
        if properties.contains(where: \.isReduced) {
            return try Dictionary(uniqueKeysWithValues: zip(places, withReduced(properties, mapped)))
        }
        let tree = tree
        let folded = try inParallel(properties.count) {
            (position) throws(EvaluationStop) -> FoldedAggregate in
            try cancellation.stopIfCancelled()
            return try properties[position].aggregate.fold(mapped[position], over: tree)
        }
        return Dictionary(uniqueKeysWithValues: zip(places, folded))
    }

    /// Runs a closure for each property, in parallel if there are many rows.
    private func inParallel<Value: Sendable>(
        _ count: Int, _ body: (Int) throws(EvaluationStop) -> Value
    ) throws(EvaluationStop) -> [Value] {
        let results = Mutex<[Result<Value, EvaluationStop>?]>(Array(repeating: nil, count: count))
        withoutActuallyEscaping(body) { body in
            let work = Shared(body)
            @Sendable func run(_ position: Int) {
                let result = Result { () throws(EvaluationStop) -> Value in try work.value(position) }
                results.withLock { $0[position] = result }
            }
            let isSmall = rows.rows.count < Self.smallestParallel
            Parallel(.shared, threads: isSmall ? 1 : threads).forEach(below: count, run)
        }
        var values: [Value] = []
        for case let result? in results.withLock({ $0 }) { values.append(try result.get()) }
        return values
    }

    private static let smallestParallel = 20_000

    /// Carries a closure to other threads.
    ///
    /// `@unchecked Sendable` holds because the closure captures only immutable values here: columns, expressions, an index.
    private struct Shared<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Computes all properties together if one has a reduce expression, which may read the others.
    private func withReduced(
        _ properties: [ClusterProperty], _ mapped: [RowValues]
    ) throws(EvaluationStop) -> [FoldedAggregate] {
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
