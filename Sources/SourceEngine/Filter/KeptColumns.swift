// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import GeoJSON
import SystemSupport

/// The columns of a store's features that filters share.
///
/// Columns of the underlying plain store are cached. A store derived from it by updates reuses all rows that are
/// unchanged.
package struct KeptColumns {
    package let cache: FilterCache
    package let store: FeatureStore
    package let memory: MemoryBudget
    /// The most threads that may read columns at the same time.
    package let threads: Int

    /// Columns of some properties.
    ///
    /// - Parameter known: columns of the same store that are already decoded.
    /// - Returns: the columns, and the claims of their memory, to be held while they are used.
    /// - Throws: `tooLarge` if filters may not hold them.
    /// - Complexity: O(the properties' text) for columns that are not cached; O(features) for the others if
    ///   features have changed, else O(1).
    package func columns(
        reading names: Set<String>, beside known: SourceColumns, _ cancellation: Cancellation
    ) throws(SourceError) -> (columns: SourceColumns, claims: [MemoryClaim]) {
        var found: [String: FilterCache.Column] = [:]
        var missing: Set<String> = []
        for name in names where !known.has(name) {
            if let column = cache.column(key(name)) { found[name] = column } else { missing.insert(name) }
        }
        if !missing.isEmpty {
            let claim = memory.claim(for: nil, .filter)
            let read = try SourceColumns(
                store.plainBase, reading: missing, threads: threads, claim: claim, cancellation)
            for name in missing {
                guard let values = read.columns.column(name) else { continue }
                let column = FilterCache.Column(values, claim.kept(values.memoryBytes))
                found[name] = column
                cache.keep(column, as: key(name))
            }
        }
        if !store.isPlain, !found.isEmpty { try follow(&found, cancellation) }
        return (known.adding(found.mapValues(\.values)), found.values.map(\.claim))
    }

    private func key(_ name: String) -> FilterCache.ColumnKey {
        FilterCache.ColumnKey(lineage: store.lineage, name: Array(name.utf8))
    }

    /// Applies the features that changed since.
    private func follow(
        _ columns: inout [String: FilterCache.Column], _ cancellation: Cancellation
    ) throws(SourceError) {
        let rows = store.changedRows
        let read = try SourceColumns(store, rows: rows, reading: Set(columns.keys), cancellation)
        for (name, column) in columns {
            guard let changed = read.columns.column(name) else { continue }
            let claim = memory.claim(for: nil, .filter)
            try claim.grow(to: column.values.memoryBytes + changed.memoryBytes)
            let values = column.values.changing(rows, to: changed, count: store.count)
            columns[name] = FilterCache.Column(values, claim)
        }
    }
}
