// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SourceStorage

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
