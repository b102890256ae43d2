// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import GeoJSON
import SourceStorage
import SystemSupport

/// The columns of a store's features that filters share.
///
/// Columns of the underlying plain store are cached. A store derived from it by updates reuses all rows that are
/// unchanged.
package struct KeptColumns {
    package let cache: FilterCache
    package let store: FeatureStore
    /// The most threads that may read columns at the same time.
    package let threads: Int

    /// Columns of some properties.
    ///
    /// - Parameter known: columns of the same store that are already decoded.
    /// - Complexity: O(the properties' text) for columns that are not cached; O(features) for the others if
    ///   features have changed, else O(1).
    package func columns(
        reading names: Set<String>, beside known: SourceColumns, _ cancellation: Cancellation
    ) throws(SourceError) -> SourceColumns {
        var found: [String: PropertyColumn] = [:]
        var missing: Set<String> = []
        for name in names where !known.has(name) {
            if let column = cache.column(key(name)) { found[name] = column } else { missing.insert(name) }
        }
        if !missing.isEmpty {
            let read = try SourceColumns(
                store.plainBase, reading: missing, threads: threads, cancellation)
            for name in missing {
                guard let column = read.columns.column(name) else { continue }
                found[name] = column
                cache.keep(column, as: key(name))
            }
        }
        if !store.isPlain, !found.isEmpty { try follow(&found, cancellation) }
        return known.adding(found)
    }

    private func key(_ name: String) -> FilterCache.ColumnKey {
        FilterCache.ColumnKey(lineage: store.lineage, name: Array(name.utf8))
    }

    /// Applies the features that changed since.
    private func follow(
        _ columns: inout [String: PropertyColumn], _ cancellation: Cancellation
    ) throws(SourceError) {
        let places = store.changedPlaces
        let read = try SourceColumns(
            store, places: places, reading: Set(columns.keys), cancellation)
        for (name, column) in columns {
            guard let changed = read.columns.column(name) else { continue }
            columns[name] = column.changing(places, to: changed, count: store.count)
        }
    }
}
