// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON

/// Folds points' values up into clusters, from the deepest zoom upwards.
///
/// A cluster's value starts as that of its first child, the node that it grew from; then its other children
/// follow in their order. That order is the same on every build.
struct AggregateFolder {
    let index: ClusterIndex
    let cancellation: Cancellation

    /// A property's value for each cluster, with what went wrong by message.
    func fold(
        _ property: ClusterProperty, _ values: RowValues
    ) throws(SourceError) -> (column: AggregateColumn, errors: [String: Int]) {
        try cancellation.stopIfCancelled()
        var errors = values.errors
        let column: AggregateColumn
        switch property.folding {
        case .simple(let simple, let initial) where simple.isNumeric:
            column = .numbers(numbers(simple, initial, values, &errors))
        case .simple(let simple, let initial):
            column = .flags(flags(simple, initial, values, &errors))
        case .mean: column = means(values)
        case .count: column = .counts(foldUp(values.presences) { $0 &+ $1 })
        case .distinct: column = .labels(LabelAggregate(values, isHistogram: false))
        case .histogram: column = .labels(LabelAggregate(values, isHistogram: true))
        case .reduce:
            throw .defect("an expression folds all properties together")
        }
        return (column, errors)
    }

    private func numbers(
        _ simple: ClusterProperty.Operator, _ initial: JSONValue?, _ values: RowValues,
        _ errors: inout [String: Int]
    ) -> [Double] {
        let points = values.foldableNumbers
        var folded = foldUp(points) { simple.foldNumbers($0, $1) }
        if folded.contains(where: \.isNaN) {
            let failures = FoldFailures(index: index, values: values, expected: .number)
            errors.merge(failures.counts(points, folded, isNull: \.isNaN), uniquingKeysWith: +)
        }
        if case .number(let initial)? = initial {
            for place in folded.indices { folded[place] = simple.fold(initial, folded[place]) }
        }
        return folded
    }

    private func flags(
        _ simple: ClusterProperty.Operator, _ initial: JSONValue?, _ values: RowValues,
        _ errors: inout [String: Int]
    ) -> [UInt8] {
        let points = values.foldableFlags
        var folded = foldUp(points) { simple.foldFlags($0, $1) }
        if folded.contains(2) {
            let failures = FoldFailures(index: index, values: values, expected: .boolean)
            errors.merge(failures.counts(points, folded, isNull: { $0 == 2 }), uniquingKeysWith: +)
        }
        if case .bool(let flag)? = initial, (flag ? 1 : 0) == simple.decisive {
            folded = Array(repeating: simple.decisive, count: folded.count)
        }
        return folded
    }

    private func means(_ values: RowValues) -> AggregateColumn {
        .means(sums: foldUp(values.summands) { $0 + $1 }, counts: foldUp(values.numberCounts) { $0 &+ $1 })
    }

    /// Folds values of points up; clusters' come out by ordinal.
    private func foldUp<Value>(_ points: [Value], _ fold: (Value, Value) -> Value) -> [Value] {
        var folded: [Value] = []
        folded.reserveCapacity(index.clusterCount)
        index.withHierarchy { starts, children in
            for cluster in 0..<index.clusterCount {
                var value: Value?
                for place in Int(starts[cluster])..<Int(starts[cluster + 1]) {
                    let child = Int(children[place])
                    let next = child < points.count ? points[child] : folded[child - points.count]
                    value = value.map { fold($0, next) } ?? next
                }
                // A cluster has children; there is always a value.
                if let value { folded.append(value) }
            }
        }
        return folded
    }
}
