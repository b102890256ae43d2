// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SourceStorage

/// The different values, sorted: `["distinct", map]`.
package struct DistinctAggregate: Aggregate {
    package static let operators = ["distinct"]
    private static let columnKind = "distinct"

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

    @Sendable private static func write(
        _ counts: [UInt32: Int], _ labels: [JSONValue], _ bytes: inout ByteWriter
    ) {
        let listed = counts.keys.sorted().prefix(LabelColumn.most)
        bytes.append("[")
        for (place, code) in listed.enumerated() {
            if place > 0 { bytes.append(",") }
            bytes.append(labels[Int(code) - 1])
        }
        if counts.count > listed.count {
            bytes.append(",")
            bytes.append(json: LabelColumn.mark)
        }
        bytes.append("]")
    }
}
