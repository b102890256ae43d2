// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// Numbers folded by an operator: `["+", map]`, `["max", initial, map]`.
package struct NumberAggregate: ValueAggregate {
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

    package func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate {
        try fold(values.rowNumbers, over: tree) { values }
    }

    /// - Parameter values: returns the property's values. Called only if clusters are null and the numbers do not know
    ///   the types.
    func fold(
        _ numbers: RowNumbers, over tree: HierarchyFold, values: () throws(EvaluationStop) -> RowValues
    ) throws(EvaluationStop) -> FoldedAggregate {
        let points = numbers.values
        var errors = numbers.errors
        var clusters = try tree.fold(points, zero: 0, by: step)
        if clusters.contains(where: \.isNaN) {
            let values = numbers.knowsTypes ? nil : try values()
            let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .number) { point in
                values.map { ExpressionType.of($0.value(point)) } ?? numbers.type(point)
            }
            errors.merge(failures.counts(points, clusters, isNull: \.isNaN), uniquingKeysWith: +)
        }
        if let initial {
            for cluster in clusters.indices { clusters[cluster] = simple.fold(initial, clusters[cluster]) }
        }
        return (Self.column(ClusterValues(clusters)), errors)
    }

    /// Folds numbers. NaN stands for null.
    package struct Fold: NodeFold {
        let simple: Operator

        @inline(__always) package func fold(_ a: Double, _ b: Double) -> Double {
            a.isNaN || b.isNaN ? .nan : simple.fold(a, b)
        }
    }

    package static let columnKind = "numbers"
    package static let valueType = AggregateValueType.number
    package static let write: @Sendable (Double, inout ByteWriter) -> Void = { $1.append(number: $0) }

    package var step: Fold { Fold(simple: simple) }
    package func points(_ values: RowValues) -> [Double] { values.foldableNumbers }
    package func isNull(_ value: Double) -> Bool { value.isNaN }

    /// The initial value is folded in at the end, so a cluster's value does not follow from its children's values.
    package var followsUpdates: Bool { initial == nil }
}
