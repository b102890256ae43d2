// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// Whether all, or any, of the values are true: `["all", map]`, `["any", initial, map]`.
package struct FlagAggregate: ValueAggregate {
    private enum Operator: String, CaseIterable {
        case all, any

        /// The flag that decides the result whatever follows.
        var decisive: UInt8 { self == .all ? 0 : 1 }
    }

    package static let operators = Operator.allCases.map(\.rawValue)

    private let decisive: UInt8
    private let name: String
    private let initial: Bool?

    package init(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) {
        let name = definition.operatorName ?? ""
        self.name = name
        decisive = (Operator(rawValue: name) ?? .all).decisive
        guard let argument = definition.argument else {
            initial = nil
            return
        }
        guard case .bool(let flag) = argument else {
            throw AggregateDefinition.fault("[1]", "the initial value must be a boolean.")
        }
        initial = flag
    }

    package func reducer(for property: String) -> Expression? {
        try? Expression(compiling: AggregateDefinition.writtenOut(name, property), purpose: .reduce)
    }

    package func fold(_ values: RowValues, over tree: HierarchyFold) throws(EvaluationStop) -> FoldedAggregate {
        let points = values.foldableFlags
        var errors = values.errors
        var folded = try tree.fold(points, zero: 0, by: step)
        if folded.contains(where: isNull) {
            let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .boolean) {
                ExpressionType.of(values.value($0))
            }
            errors.merge(failures.counts(points, folded, isNull: { isNull($0) }), uniquingKeysWith: +)
        }
        if let initial, (initial ? 1 : 0) == decisive {
            for cluster in folded.indices { folded[cluster] = decisive }
        }
        return (Self.column(ClusterValues(folded)), errors)
    }

    /// Folds flags: 0 false, 1 true, 2 null.
    package struct Fold: NodeFold {
        let decisive: UInt8

        @inline(__always) package func fold(_ a: UInt8, _ b: UInt8) -> UInt8 {
            a == decisive || a == 2 ? a : b
        }
    }

    package static let columnKind = "flags"
    package static let valueType = AggregateValueType.boolean
    package static let write: @Sendable (UInt8, inout ByteWriter) -> Void = { flag, bytes in
        switch flag {
        case 0: bytes.append("false")
        case 1: bytes.append("true")
        default: bytes.append("null")
        }
    }

    package var step: Fold { Fold(decisive: decisive) }
    package func points(_ values: RowValues) -> [UInt8] { values.foldableFlags }
    package func isNull(_ value: UInt8) -> Bool { value == 2 }

    /// The initial value is folded in at the end, so a cluster's value does not follow from its children's values.
    package var followsUpdates: Bool { initial == nil }
}
