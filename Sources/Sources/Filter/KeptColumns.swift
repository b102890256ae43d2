// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import GeoJSON
import SourceStorage
import SystemSupport

/// The columns of a store's features that filters share.
///
/// Columns are kept of the plain store below: one that was made of it by changes takes over all rows that are the
/// same there.
package struct KeptColumns {
    package let cache: FilterCache
    package let store: FeatureStore
    /// How many threads may read columns at the same time.
    package let threads: Int

    /// Columns of some properties.
    ///
    /// - Parameter known: those that are at hand anyway, of the same store.
    /// - Complexity: O(the properties' text) for those that are not kept yet; O(features) for the others where
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

    /// Brings in the features that changed since.
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
