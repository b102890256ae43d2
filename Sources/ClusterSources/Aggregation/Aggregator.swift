// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON

/// Works out all aggregated properties of a view.
struct Aggregator {
    let index: ClusterIndex
    let rows: RowSource
    let cancellation: Cancellation

    /// The properties' columns in their order, with what went wrong by message.
    func aggregate(
        _ options: [ClusterPropertyOption]
    ) throws(SourceError) -> (aggregates: [NamedAggregate], errors: [String: Int]) {
        var aggregates: [NamedAggregate] = []
        var errors: [String: Int] = [:]
        let properties = options.map(\.property)
        var mapped: [RowValues] = []
        for property in properties {
            guard let values = property.map.values(rows) else { throw .cancelled }
            mapped.append(values)
        }
        let reduced = try reduceWhereAsked(properties, mapped, &errors)
        let folder = AggregateFolder(index: index, cancellation: cancellation)
        for (place, property) in properties.enumerated() {
            if let column = reduced[property.name] {
                errors.merge(mapped[place].errors, uniquingKeysWith: +)
                aggregates.append(NamedAggregate(name: property.name, column: .values(column)))
            } else {
                let folded = try folder.fold(property, mapped[place])
                errors.merge(folded.errors, uniquingKeysWith: +)
                aggregates.append(NamedAggregate(name: property.name, column: folded.column))
            }
        }
        return (aggregates, errors)
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
