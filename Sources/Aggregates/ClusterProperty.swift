// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import ImageStore
import SystemSupport

/// An aggregated property of clusters: the value of each point, and how these values are folded.
public struct ClusterProperty: Sendable {
    public let name: String
    public let map: Expression
    package let aggregate: any Aggregate

    /// The built-in properties of clusters, which take precedence over aggregated ones of the same name.
    package static let ownNames: Set<String> = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]

    /// Compiles `[operator, map]`, `[reduce, map]`, `[operator, initial, map]` or `["quantiles", [number, …], map]`.
    ///
    /// - Throws: the errors, with their positions in the definition.
    public init(name: String, compiling definition: JSONValue) throws(ExpressionCompileFailure) {
        guard case .array(let parts) = definition, (2...3).contains(parts.count) else {
            throw AggregateDefinition.fault(
                "", "must be [operator, map], [reduce, map] or [operator, initial value, map].")
        }
        let definition = AggregateDefinition(name: name, parts: parts)
        self.name = name
        map = try definition.compile(parts.count - 1, .map)
        aggregate = try Self.aggregate(definition)
    }

    private static func aggregate(_ definition: AggregateDefinition) throws(ExpressionCompileFailure) -> any Aggregate {
        if let name = definition.operatorName, let kind = AggregateTable.kind(named: name) {
            return try kind.init(definition)
        }
        try definition.rejectArgument()
        if let short = definition.shortened, let kind = AggregateTable.kind(named: short.operatorName ?? "") {
            return try kind.init(short)
        }
        return try ReduceAggregate(definition)
    }
}

extension AggregateDefinition {
    /// The equivalent definition with an operator, if this one has a reduce expression; nil if there is none.
    fileprivate var shortened: AggregateDefinition? {
        guard case .array(let reduce) = parts[0], case .string(let text)? = reduce.first,
            NumberAggregate.operators.contains(text) || FlagAggregate.operators.contains(text),
            parts[0] == Self.writtenOut(text, name)
        else { return nil }
        return AggregateDefinition(name: name, parts: [.string(text)] + parts.dropFirst())
    }
}

/// One aggregated property of all clusters of a view.
package struct NamedAggregate: Sendable {
    package let name: String
    /// The name as JSON text with a colon, ready to be written.
    package let key: [UInt8]
    package let column: any AggregateColumn
    /// Whether a built-in property of clusters has this name and takes precedence.
    package let isHidden: Bool

    package init(name: String, column: any AggregateColumn) {
        self.name = name
        self.column = column
        isHidden = ClusterProperty.ownNames.contains(name)
        var writer = ByteWriter()
        writer.append(json: name)
        writer.append(":")
        key = writer.bytes
    }

    package var memoryBytes: Int { column.memoryBytes }

    package func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        column.write(cluster, of: index, into: &bytes)
    }
}

/// The table of all aggregates, used by the readers of definitions and of snapshots.
package enum AggregateTable {
    package static let kinds: [any Aggregate.Type] = [
        NumberAggregate.self,
        FlagAggregate.self,
        MeanAggregate.self,
        CountAggregate.self,
        LabelAggregate.self,
        QuantilesAggregate.self,
        ReduceAggregate.self,
    ]

    /// The aggregate that an operator names; nil if there is none.
    static func kind(named name: String) -> (any Aggregate.Type)? {
        kinds.first { $0.operators.contains(name) }
    }

    /// Reads a stored column.
    package static func load(
        _ kind: String, from stored: StoredAggregate
    ) throws(StateFault) -> any AggregateColumn {
        for aggregate in kinds {
            if let column = try aggregate.load(kind, from: stored) { return column }
        }
        throw StateFault("\(stored.path) has an aggregated property of unknown kind '\(kind)'")
    }
}
