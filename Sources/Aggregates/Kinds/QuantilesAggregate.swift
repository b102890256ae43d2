// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SourceStorage

/// Quantiles of the numbers: `["quantiles", [0.1, 0.5, 0.9], map]`.
package struct QuantilesAggregate: Aggregate {
    package static let operators = ["quantiles"]
    private static let columnKind = "quantiles"
    /// The most quantiles of one property.
    package static let most = 16

    private let quantiles: [Double]

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        guard let argument = definition.argument else {
            throw AggregateDefinition.fault("", "must be [\"quantiles\", [number from 0 to 1, …], map].")
        }
        guard case .array(let items) = argument, (1...Self.most).contains(items.count) else {
            throw AggregateDefinition.fault(
                "[1]", "must be an array of 1 to \(Self.most) numbers from 0 to 1.")
        }
        var quantiles: [Double] = []
        for (index, item) in items.enumerated() {
            guard case .number(let number) = item, (0...1).contains(number) else {
                throw AggregateDefinition.fault("[1][\(index)]", "must be a number from 0 to 1.")
            }
            quantiles.append(number)
        }
        self.quantiles = quantiles
    }

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        (QuantileColumn(Self.columnKind, values, quantiles, isSingle: false), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == columnKind ? try QuantileColumn(kind, from: stored, isSingle: false) : nil
    }
}
