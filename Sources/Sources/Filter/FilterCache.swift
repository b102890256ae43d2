// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import SourceStorage
import Synchronization
import SystemSupport

/// A cache for recently used filters, with one budget of bytes for all sources. It holds the views of features that pass
/// and the columns that filters read.
///
/// A view is built once, even if many callers request it at the same time; the others wait. The least recently used entry is
/// evicted first. An entry larger than the whole budget is kept until the next one arrives.
package final class FilterCache: Sendable {
    /// A filter of one revision's features. Revision numbers are unique over all sources.
    package struct ViewKey: Hashable, Sendable {
        package let revision: UInt64
        /// The filter's JSON text as bytes, since strings compare by canonical equivalence.
        package let filter: [UInt8]
        /// The zoom, if the filter depends on it.
        package let zoom: Int8?
    }

    /// A property of a plain store's features.
    package struct ColumnKey: Hashable, Sendable {
        /// The store's lineage, which stores derived from it by updates share.
        package let lineage: UInt64
        /// The property's name as bytes.
        package let name: [UInt8]
    }

    package enum Key: Hashable, Sendable {
        case view(ViewKey)
        case column(ColumnKey)
    }

    fileprivate final class Entry: Sendable {
        let lock = FairLock()
        let view = Mutex<View?>(nil)
    }

    fileprivate struct State {
        var views: [ViewKey: Entry] = [:]
        var columns: [ColumnKey: PropertyColumn] = [:]
        /// The order of use of all entries.
        var order = UseOrder<Key>()
        var viewUses = (hits: 0, misses: 0)
        var columnUses = (hits: 0, misses: 0)
    }

    private let state = Mutex(State())
    private let budget: Int
    /// A user's views are built one after another, each on all cores that a build may use. So many filters at once
    /// leave queries as much of the machine as one filter does, and decode shared columns once.
    private let building = UserLocks()

    package init(budget: Int) {
        self.budget = budget
    }

    /// Bytes of all entries.
    package var bytes: Int { state.withLock { $0.order.bytes } }

    /// Hits, misses and bytes of views. O(entries).
    package var viewStatistics: CacheStatistics {
        state.withLock { state in
            let bytes = state.order.bytes { if case .view = $0 { true } else { false } }
            return CacheStatistics(hits: state.viewUses.hits, misses: state.viewUses.misses, bytes: bytes)
        }
    }

    /// The same for columns. Look-ups while a view is built count.
    package var columnStatistics: CacheStatistics {
        state.withLock { state in
            let bytes = state.order.bytes { if case .column = $0 { true } else { false } }
            return CacheStatistics(hits: state.columnUses.hits, misses: state.columnUses.misses, bytes: bytes)
        }
    }

    /// The view, if it is cached. Never waits for a build.
    package func ready(_ key: ViewKey) -> View? {
        let entry = state.withLock { state -> Entry? in
            state.order.touch(.view(key))
            return state.views[key]
        }
        return entry?.view.withLock { $0 }
    }

    /// The view, built if it is not cached. Blocks: only for threads of the pool.
    package func view(
        _ key: ViewKey, _ cancellation: Cancellation, build: () throws(SourceError) -> View
    ) throws(SourceError) -> View {
        let entry = state.withLock { state -> Entry in
            state.order.touch(.view(key))
            if let entry = state.views[key] { return entry }
            let entry = Entry()
            state.views[key] = entry
            return entry
        }
        return try entry.lock.withLock(cancellation) { () throws(SourceError) -> View in
            if let view = entry.view.withLock({ $0 }) {
                state.withLock { $0.viewUses.hits += 1 }
                return view
            }
            let view: View
            do throws(SourceError) {
                view = try building.withLock(cancellation, orThrow: .cancelled, build)
            } catch {
                state.withLock { $0.remove(.view(key)) }
                throw error
            }
            entry.view.withLock { $0 = view }
            state.withLock { state in
                state.viewUses.misses += 1
                // It may have been removed while it was built.
                if state.views[key] != nil { state.keep(.view(key), bytes: view.memoryBytes, budget) }
            }
            return view
        }
    }

    /// A column, if it is cached.
    package func column(_ key: ColumnKey) -> PropertyColumn? {
        state.withLock { state in
            guard let column = state.columns[key] else {
                state.columnUses.misses += 1
                return nil
            }
            state.columnUses.hits += 1
            state.order.touch(.column(key))
            return column
        }
    }

    package func keep(_ column: PropertyColumn, as key: ColumnKey) {
        state.withLock { state in
            state.columns[key] = column
            state.keep(.column(key), bytes: column.memoryBytes, budget)
        }
    }

    /// Removes a revision's views.
    package func forget(revision: UInt64) {
        state.withLock { state in
            for key in state.views.keys where key.revision == revision { state.remove(.view(key)) }
        }
    }

    /// Removes the columns of a store and of all stores derived from it by updates.
    package func forget(lineage: UInt64) {
        state.withLock { state in
            for key in state.columns.keys where key.lineage == lineage { state.remove(.column(key)) }
        }
    }
}

extension FilterCache.State {
    package mutating func keep(_ key: FilterCache.Key, bytes: Int, _ budget: Int) {
        order.put(key, bytes: bytes)
        for key in order.removeOldest(toFit: budget) { remove(key) }
    }

    package mutating func remove(_ key: FilterCache.Key) {
        order.remove(key)
        switch key {
        case .view(let key): views[key] = nil
        case .column(let key): columns[key] = nil
        }
    }
}
