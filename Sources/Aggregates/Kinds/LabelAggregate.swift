// SPDX-License-Identifier: MIT
import Expressions
import JSON
import ImageStore

/// An aggregate of the different values of a cluster's points. Such aggregates differ only in what they
/// write.
package protocol LabelAggregate: Aggregate {
    /// The operator, which is also the kind of its stored column.
    static var name: String { get }

    /// Writes a cluster's value.
    ///
    /// - Parameter counts: how many points have each label, by the label's index plus one.
    @Sendable static func write(
        _ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter)

    init()
}

extension LabelAggregate {
    package static var operators: [String] { [name] }

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        try definition.rejectArgument()
        self.init()
    }

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        (try LabelColumn(Self.name, values, tree.cancellation, Self.write), values.errors)
    }

    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> (any AggregateColumn)? {
        kind == name ? try LabelColumn(kind, from: stored, write) : nil
    }
}

/// The different values, sorted: `["distinct", map]`.
package struct DistinctAggregate: LabelAggregate {
    package static let name = "distinct"

    package init() {}

    @Sendable package static func write(
        _ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter
    ) {
        let listed = counts.keys.sorted().prefix(LabelColumn.most)
        bytes.append("[")
        for (index, code) in listed.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append(labels[Int(code) - 1])
        }
        if counts.count > listed.count {
            bytes.append(",")
            bytes.append(json: LabelColumn.mark)
        }
        bytes.append("]")
    }
}

/// The count of each different value: `["histogram", map]`.
package struct HistogramAggregate: LabelAggregate {
    package static let name = "histogram"

    package init() {}

    /// Writes the most frequent labels, in the labels' order, and the sum of the rest.
    @Sendable package static func write(
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
