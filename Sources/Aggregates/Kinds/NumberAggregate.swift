// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import SourceStorage
import SystemSupport

/// Numbers folded by an operator: `["+", map]`, `["max", initial, map]`.
package struct NumberAggregate: Aggregate {
    package enum Operator: String, CaseIterable, Sendable {
        case sum = "+"
        case product = "*"
        case greatest = "max"
        case least = "min"

        @inline(__always) func fold(_ a: Double, _ b: Double) -> Double {
            switch self {
            case .sum: a + b
            case .product: a * b
            case .greatest: a < b ? b : a
            case .least: b < a ? b : a
            }
        }
    }

    package static let operators = Operator.allCases.map(\.rawValue)

    let simple: Operator
    private let initial: Double?

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        simple = definition.operatorName.flatMap { Operator(rawValue: $0) } ?? .sum
        guard let argument = definition.argument else {
            initial = nil
            return
        }
        guard case .number(let number) = argument else {
            throw AggregateDefinition.fault("[1]", "the initial value must be a number.")
        }
        initial = number
    }

    package func reducer(for property: String) -> Expression? {
        let text = AggregateDefinition.writtenOut(simple.rawValue, property)
        return try? Expression(compiling: text, purpose: .reduce)
    }

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        try Self.fold([self], [values.rowNumbers], over: tree) { _ in values }[0]
    }

    /// Folds several properties at once, at most `NumberLanes.most`.
    ///
    /// - Parameter values: returns a property's values by its index. Called only if clusters are null.
    static func fold(
        _ aggregates: [NumberAggregate], _ numbers: [RowNumbers], over tree: HierarchyFold,
        values: (Int) throws(EvaluationStop) -> RowValues
    ) throws(EvaluationStop) -> [FoldedAggregate] {
        let folded: [FoldedNumbers]
        if aggregates.count == 1 {
            let clusters = try tree.fold(
                numbers[0].values, zero: 0, by: Fold(simple: aggregates[0].simple))
            folded = [FoldedNumbers(values: clusters)]
        } else {
            folded = try NumberLanes(aggregates.map(\.simple)).fold(numbers, tree)
        }
        var outcomes: [FoldedAggregate] = []
        for (position, aggregate) in aggregates.enumerated() {
            let own = numbers[position]
            var errors = own.errors
            var clusters = folded[position].values
            if folded[position].hasNulls {
                let values = own.knowsTypes ? nil : try values(position)
                let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .number) {
                    point in
                    values.map { ExpressionType.of($0.value(point)) } ?? own.type(point)
                }
                errors.merge(
                    failures.counts(own.values, clusters, isNull: \.isNaN), uniquingKeysWith: +)
            }
            if let initial = aggregate.initial {
                clusters = clusters.map { aggregate.simple.fold(initial, $0) }
            }
            outcomes.append((Column(ClusterValues(clusters)), errors))
        }
        return outcomes
    }

    /// Folds numbers. NaN stands for null.
    private struct Fold: NodeFold {
        let simple: Operator

        @inline(__always) func fold(_ a: Double, _ b: Double) -> Double {
            a.isNaN || b.isNaN ? .nan : simple.fold(a, b)
        }
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == Column.kind ? Column(try stored.clusterValues(0)) : nil
    }

    /// The initial value is folded in at the end, so a cluster's value does not follow from its children's values.
    package var followsUpdates: Bool { initial == nil }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? {
        guard let column = column as? Column else { return nil }
        let fold = Fold(simple: simple)
        let numbers = update.extend(column.numbers, values.foldableNumbers) { fold.fold($0, $1) }
        return numbers.contains(from: column.numbers.count, where: \.isNaN) ? nil : Column(numbers)
    }

    /// Numbers; NaN stands for null.
    package final class Column: AggregateColumn {
        static let kind = "numbers"
        let numbers: ClusterValues<Double>

        fileprivate init(_ numbers: ClusterValues<Double>) { self.numbers = numbers }

        package var kind: String { Self.kind }
        package var valueType: AggregateValueType { .number }
        package var memoryBytes: Int { numbers.memoryBytes }

        package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
            bytes.append(number: numbers[cluster])
        }

        package func store(in section: AggregateSection) throws(FileError) { try section.add(0, numbers) }
    }
}
