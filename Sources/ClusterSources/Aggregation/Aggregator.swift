// SPDX-License-Identifier: MIT
import Clustering
import Dispatch
import Expressions
import JSON
import Synchronization

/// Works out all aggregated properties of a view.
struct Aggregator {
    let index: ClusterIndex
    let rows: RowSource
    let cancellation: Cancellation

    /// The properties' columns in their order, with what went wrong by message.
    func aggregate(
        _ options: [ClusterPropertyOption]
    ) throws(SourceError) -> (aggregates: [NamedAggregate], errors: [String: Int]) {
        var errors: [String: Int] = [:]
        let properties = options.map(\.property)
        let mapped = try inParallel(properties.count) { (place) throws(SourceError) -> RowValues in
            guard let values = properties[place].map.values(rows) else { throw .cancelled }
            return values
        }
        let reduced = try reduceWhereAsked(properties, mapped, &errors)
        let folder = AggregateFolder(index: index, cancellation: cancellation)
        let folded = try inParallel(properties.count) {
            (place) throws(SourceError) -> (column: AggregateColumn, errors: [String: Int]) in
            if let column = reduced[properties[place].name] { return (.values(column), mapped[place].errors) }
            return try folder.fold(properties[place], mapped[place])
        }
        for outcome in folded { errors.merge(outcome.errors, uniquingKeysWith: +) }
        let aggregates = zip(properties, folded).map { NamedAggregate(name: $0.name, column: $1.column) }
        return (aggregates, errors)
    }

    /// Does something for each property, for several at once where there are many rows.
    private func inParallel<Value: Sendable>(
        _ count: Int, _ body: (Int) throws(SourceError) -> Value
    ) throws(SourceError) -> [Value] {
        let results = Mutex<[Result<Value, SourceError>?]>(Array(repeating: nil, count: count))
        withoutActuallyEscaping(body) { body in
            let work = Shared(body)
            @Sendable func run(_ place: Int) {
                let result = Result { () throws(SourceError) -> Value in try work.value(place) }
                results.withLock { $0[place] = result }
            }
            if rows.rows.count < Self.smallestParallel {
                for place in 0..<count { run(place) }
            } else {
                DispatchQueue.concurrentPerform(iterations: count, execute: run)
            }
        }
        var values: [Value] = []
        for case let result? in results.withLock({ $0 }) { values.append(try result.get()) }
        return values
    }

    private static let smallestParallel = 20_000

    /// Carries a closure to other threads.
    ///
    /// `@unchecked Sendable` holds because what it captures is immutable here: columns, expressions, an index.
    private struct Shared<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// The columns of properties that a reduce expression folds, by name. That expression may read the others.
    private func reduceWhereAsked(
        _ properties: [ClusterProperty], _ mapped: [RowValues], _ errors: inout [String: Int]
    ) throws(SourceError) -> [String: [JSONValue]] {
        guard properties.contains(where: \.isReduced) else { return [:] }
        let outcome = try ReduceFolder(index: index, cancellation: cancellation).fold(properties, mapped)
        errors.merge(outcome.errors, uniquingKeysWith: +)
        var columns: [String: [JSONValue]] = [:]
        for (property, column) in zip(properties, outcome.columns) where property.isReduced {
            columns[property.name] = column
        }
        return columns
    }
}

extension ClusterProperty {
    fileprivate var isReduced: Bool {
        if case .reduce = folding { return true }
        return false
    }
}
