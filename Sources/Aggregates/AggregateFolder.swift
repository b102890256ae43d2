// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import SystemSupport

/// Folds points' values up into clusters, from the deepest zoom upwards.
package struct AggregateFolder {
    private let tree: HierarchyFold

    package init(index: ClusterIndex, threads: Int, cancellation: Cancellation) {
        tree = HierarchyFold(index: index, threads: threads, cancellation: cancellation)
    }

    package typealias Outcome = (column: AggregateColumn, errors: [String: Int])

    /// A property's value for each cluster, with what went wrong by message.
    package func fold(_ property: ClusterProperty, _ values: RowValues) throws(EvaluationStop) -> Outcome {
        try tree.cancellation.stopIfCancelled()
        var errors = values.errors
        let column: AggregateColumn
        switch property.folding {
        case .simple(let simple, let initial):
            column = .flags(try flags(simple, initial, values, &errors))
        case .mean: column = try means(values)
        case .count: column = .counts(try tree.fold(values.presences, zero: 0, by: CountFold()))
        case .distinct: column = .labels(LabelAggregate(values, isHistogram: false))
        case .histogram: column = .labels(LabelAggregate(values, isHistogram: true))
        case .quantiles(let quantiles):
            column = .quantiles(QuantileAggregate(values, quantiles: quantiles))
        case .reduce:
            let reducer = ReduceFolder(index: tree.index, cancellation: tree.cancellation)
            let reduced = try reducer.fold([property], [values])
            errors.merge(reduced.errors, uniquingKeysWith: +)
            column = .values(reduced.columns[0])
        }
        return (column, errors)
    }

    /// The numbers for each cluster of some properties that operators fold, with what went wrong by message.
    ///
    /// - Parameter values: a property's values, by its place; asked for where clusters are null.
    package func fold(
        _ properties: [NumericProperty], _ numbers: [RowNumbers],
        values: (Int) throws(EvaluationStop) -> RowValues
    ) throws(EvaluationStop) -> [Outcome] {
        let folded: [FoldedNumbers]
        if properties.count == 1 {
            let simple = properties[0].simple
            folded = [
                FoldedNumbers(
                    values: try tree.fold(numbers[0].values, zero: 0, by: NumberFold(simple: simple)))
            ]
        } else {
            folded = try NumberLanes(properties.map(\.simple)).fold(numbers, tree)
        }
        var outcomes: [Outcome] = []
        for (place, property) in properties.enumerated() {
            var errors = numbers[place].errors
            var clusters = folded[place].values
            if folded[place].hasNulls {
                let own = numbers[place]
                let values = own.knowsTypes ? nil : try values(place)
                let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .number) {
                    point in
                    values.map { ExpressionType.of($0.value(point)) } ?? own.type(point)
                }
                errors.merge(
                    failures.counts(numbers[place].values, clusters, isNull: \.isNaN), uniquingKeysWith: +)
            }
            if let initial = property.initial {
                clusters = clusters.map { property.simple.fold(initial, $0) }
            }
            outcomes.append((.numbers(clusters), errors))
        }
        return outcomes
    }

    private func flags(
        _ simple: ClusterProperty.Operator, _ initial: JSONValue?, _ values: RowValues,
        _ errors: inout [String: Int]
    ) throws(EvaluationStop) -> [UInt8] {
        let points = values.foldableFlags
        var folded = try tree.fold(points, zero: 0, by: FlagFold(simple: simple))
        if folded.contains(2) {
            let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .boolean) {
                point in
                ExpressionType.of(values.value(point))
            }
            errors.merge(failures.counts(points, folded, isNull: { $0 == 2 }), uniquingKeysWith: +)
        }
        if case .bool(let flag)? = initial, (flag ? 1 : 0) == simple.decisive {
            folded = Array(repeating: simple.decisive, count: folded.count)
        }
        return folded
    }

    private func means(_ values: RowValues) throws(EvaluationStop) -> AggregateColumn {
        .means(
            sums: try tree.fold(values.summands, zero: 0, by: SumFold()),
            counts: try tree.fold(values.numberCounts, zero: 0, by: CountFold()))
    }
}

/// How a property's numbers are folded by an operator.
package struct NumericProperty {
    package let simple: ClusterProperty.Operator
    package let initial: Double?

    /// Nil for properties that are folded otherwise.
    package init?(_ property: ClusterProperty) {
        guard case .simple(let simple, let initial) = property.folding, simple.isNumeric else { return nil }
        self.simple = simple
        if case .number(let number)? = initial { self.initial = number } else { self.initial = nil }
    }
}
