// SPDX-License-Identifier: MIT
import Expressions
import JSON
import SourceStorage

/// The table of all aggregates, used by the readers of definitions and of snapshots.
package enum AggregateTable {
    package static let kinds: [any Aggregate.Type] = [
        NumberAggregate.self,
        FlagAggregate.self,
        MeanAggregate.self,
        CountAggregate.self,
        DistinctAggregate.self,
        HistogramAggregate.self,
        MedianAggregate.self,
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
