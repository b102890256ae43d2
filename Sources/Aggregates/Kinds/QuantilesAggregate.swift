// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// Quantiles of the numbers: `["median", map]`, `["quantiles", [0.1, 0.5, 0.9], map]`.
package struct QuantilesAggregate: Aggregate {
    package static let operators = [median, "quantiles"]
    private static let median = "median"
    /// The most quantiles of one property.
    package static let most = 16

    /// The operator, which is also the kind of the stored column.
    private let name: String
    private let quantiles: [Double]

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        name = definition.operatorName ?? ""
        if name == Self.median {
            try definition.rejectArgument()
            quantiles = [0.5]
            return
        }
        guard let argument = definition.argument else {
            throw AggregateDefinition.fault("", "must be [\"quantiles\", [number from 0 to 1, …], map].")
        }
        guard case .array(let items) = argument, (1...Self.most).contains(items.count) else {
            throw AggregateDefinition.fault("[1]", "must be an array of 1 to \(Self.most) numbers from 0 to 1.")
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

    package func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate {
        (QuantileColumn(name, values, quantiles, isSingle: name == Self.median), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        operators.contains(kind) ? try QuantileColumn(kind, from: stored, isSingle: kind == median) : nil
    }
}

/// Quantiles of clusters' points.
///
/// A cluster's value is computed from its points when it is written, so it is exact whatever the order of points.
package final class QuantileColumn: AggregateColumn {
    package let kind: String
    /// Whether the value is one number, not an array of them.
    private let isSingle: Bool
    /// The quantiles, from 0 to 1.
    private let quantiles: [Double]
    /// The numbers by point; NaN if a point has none.
    private let numbers: SectionValues<Double>
    private let texts = LargeClusterTexts()

    init(_ kind: String, _ values: RowValues, _ quantiles: [Double], isSingle: Bool) {
        self.kind = kind
        self.isSingle = isSingle
        self.quantiles = quantiles
        numbers = SectionValues(values.foldableNumbers)
    }

    /// Reads what `store` wrote.
    init(_ kind: String, from stored: StoredAggregate, isSingle: Bool) throws(StateFault) {
        self.kind = kind
        self.isSingle = isSingle
        numbers = try stored.borrowed(0, count: stored.points)
        quantiles = try stored.array(1)
        guard quantiles.allSatisfy((0...1).contains) else {
            throw stored.fault("has a quantile beyond 0 to 1")
        }
    }

    package func store(in section: AggregateSection) throws(FileError) {
        try section.add(0, numbers)
        try section.add(1, quantiles)
    }

    package var valueType: AggregateValueType { isSingle ? .number : .string }

    package var memoryBytes: Int { numbers.memoryBytes }

    /// - Complexity: O(points × log(points)) the first time.
    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        texts.write(cluster, of: index, into: &bytes) { leaves in
            var found: [Double] = []
            found.reserveCapacity(leaves.count)
            for offset in 0..<leaves.count {
                let number = numbers[Int(leaves[offset].rawValue)]
                if !number.isNaN { found.append(number) }
            }
            found.sort()
            return text(found)
        }
    }

    private func text(_ sorted: [Double]) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        if isSingle {
            Self.write(Self.median(of: sorted), into: &writer)
            return writer.bytes
        }
        writer.append("[")
        for (index, quantile) in quantiles.enumerated() {
            if index > 0 { writer.append(",") }
            Self.write(Self.quantile(quantile, of: sorted), into: &writer)
        }
        writer.append("]")
        return writer.bytes
    }

    private static func write(_ number: Double?, into writer: inout ByteWriter) {
        if let number { writer.append(number: number) } else { writer.append("null") }
    }

    /// The median of sorted numbers; nil if there are none. Of an even count it is the mean of the two in the middle,
    /// as with NumPy's `median`. It is rounded once, so its last digit may differ from that of the quantile 0.5.
    package static func median(of sorted: [Double]) -> Double? {
        guard let last = sorted.indices.last else { return nil }
        let (lower, upper) = (sorted[last / 2], sorted[(last + 1) / 2])
        let sum = lower + upper
        return sum.isFinite ? sum / 2 : lower / 2 + upper / 2
    }

    /// A quantile of sorted numbers, interpolated linearly between the two nearest; nil if there are none. The same
    /// steps as NumPy's `quantile` with its default method, so that all digits agree.
    package static func quantile(_ quantile: Double, of sorted: [Double]) -> Double? {
        guard let last = sorted.indices.last else { return nil }
        let position = Double(last) * quantile
        let lower = min(Int(position), last)
        let upper = min(lower + 1, last)
        let fraction = position - Double(lower)
        let difference = sorted[upper] - sorted[lower]
        // Numbers near both limits of a double: their difference is beyond these, what lies between them is not.
        guard difference.isFinite else { return sorted[lower] * (1 - fraction) + sorted[upper] * fraction }
        return fraction < 0.5 ? sorted[lower] + difference * fraction : sorted[upper] - difference * (1 - fraction)
    }
}
