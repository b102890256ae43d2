// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// Whether all, or any, of the values are true: `["all", map]`, `["any", initial, map]`.
package struct FlagAggregate: Aggregate {
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

    package func fold(
        _ values: RowValues, over tree: HierarchyFold
    ) throws(EvaluationStop) -> FoldedAggregate {
        let points = values.foldableFlags
        var errors = values.errors
        var folded = try tree.fold(points, zero: 0, by: Fold(decisive: decisive))
        if folded.contains(2) {
            let failures = FoldFailures(index: tree.index, threads: tree.threads, expected: .boolean) {
                ExpressionType.of(values.value($0))
            }
            errors.merge(failures.counts(points, folded, isNull: { $0 == 2 }), uniquingKeysWith: +)
        }
        if let initial, (initial ? 1 : 0) == decisive {
            folded = Array(repeating: decisive, count: folded.count)
        }
        return (Self.column(ClusterValues(folded)), errors)
    }

    /// Folds flags: 0 false, 1 true, 2 null.
    private struct Fold: NodeFold {
        let decisive: UInt8

        @inline(__always) func fold(_ a: UInt8, _ b: UInt8) -> UInt8 { a == decisive || a == 2 ? a : b }
    }

    private static let columnKind = "flags"

    /// 0 false, 1 true, 2 null.
    private static func column(_ flags: ClusterValues<UInt8>) -> ValueColumn<UInt8> {
        ValueColumn(columnKind, .boolean, flags) { flag, bytes in
            switch flag {
            case 0: bytes.append("false")
            case 1: bytes.append("true")
            default: bytes.append("null")
            }
        }
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
        guard let column = column as? ValueColumn<UInt8> else { return nil }
        let fold = Fold(decisive: decisive)
        let flags = update.extend(column.values, values.foldableFlags) { fold.fold($0, $1) }
        return flags.contains(from: column.values.count, where: { $0 == 2 }) ? nil : Self.column(flags)
    }
}
