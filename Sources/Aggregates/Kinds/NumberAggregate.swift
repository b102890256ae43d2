// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
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
        try fold(values.rowNumbers, over: tree) { values }
    }

    /// - Parameter values: returns the property's values. Called only if clusters are null and the numbers do not know
    ///   the types.
    func fold(
        _ numbers: RowNumbers, over tree: HierarchyFold, values: () throws(EvaluationStop) -> RowValues
    ) throws(EvaluationStop) -> FoldedAggregate {
        let points = numbers.values
        var errors = numbers.errors
        var clusters = try tree.fold(points, zero: 0, by: Fold(simple: simple))
        if clusters.contains(where: \.isNaN) {
            let values = numbers.knowsTypes ? nil : try values()
            let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .number) {
                point in
                values.map { ExpressionType.of($0.value(point)) } ?? numbers.type(point)
            }
            errors.merge(failures.counts(points, clusters, isNull: \.isNaN), uniquingKeysWith: +)
        }
        if let initial { clusters = clusters.map { simple.fold(initial, $0) } }
        return (Self.column(ClusterValues(clusters)), errors)
    }

    /// Folds numbers. NaN stands for null.
    private struct Fold: NodeFold {
        let simple: Operator

        @inline(__always) func fold(_ a: Double, _ b: Double) -> Double {
            a.isNaN || b.isNaN ? .nan : simple.fold(a, b)
        }
    }

    private static let columnKind = "numbers"

    /// NaN stands for null.
    private static func column(_ numbers: ClusterValues<Double>) -> ValueColumn<Double> {
        ValueColumn(columnKind, .number, numbers) { $1.append(number: $0) }
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == columnKind ? column(try stored.clusterValues(0)) : nil
    }

    /// The initial value is folded in at the end, so a cluster's value does not follow from its children's values.
    package var followsUpdates: Bool { initial == nil }

    package func extend(
        _ column: any AggregateColumn, with values: RowValues, in update: LiveFold
    ) -> (any AggregateColumn)? {
        guard let column = column as? ValueColumn<Double> else { return nil }
        let fold = Fold(simple: simple)
        let numbers = update.extend(column.values, values.foldableNumbers) { fold.fold($0, $1) }
        return numbers.contains(from: column.values.count, where: \.isNaN) ? nil : Self.column(numbers)
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
