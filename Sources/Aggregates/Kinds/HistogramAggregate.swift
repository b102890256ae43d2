// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SourceStorage

/// The count of each different value: `["histogram", map]`.
package struct HistogramAggregate: Aggregate {
    package static let operators = ["histogram"]
    private static let columnKind = "histogram"

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
    }

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        (LabelColumn(Self.columnKind, values, Self.write), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == columnKind ? try LabelColumn(kind, from: stored, write) : nil
    }

    /// Writes the most frequent labels, in the labels' order, and the sum of the rest.
    @Sendable private static func write(
        _ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter
    ) {
        let byCount = counts.sorted { $0.value > $1.value || ($0.value == $1.value && $0.key < $1.key) }
        let listed = byCount.prefix(LabelColumn.most).sorted { $0.key < $1.key }
        let rest = byCount.dropFirst(LabelColumn.most).reduce(0) { $0 + $1.value }
        var object = JSONObject()
        for (code, count) in listed {
            let label = text(labels[Int(code) - 1])
            var sum = Double(count)
            if case .number(let others)? = object[label] { sum += others }
            object[label] = .number(sum)
        }
        if rest > 0 { object[LabelColumn.mark] = .number(Double(rest)) }
        bytes.append(.object(object))
    }

    private static func text(_ value: JSONValue) -> String {
        guard case .string(let text) = value else { return value.text }
        return text
    }
}
