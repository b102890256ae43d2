// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import SourceStorage
import Synchronization
import SystemSupport

/// What filters lately used have left, over all sources, within a budget of bytes: views of the features that pass,
/// and the columns that filters read.
///
/// A view is built once, however many ask for it at once; those others wait. What was used longest ago goes
/// first. One that is larger than the whole budget is kept until the next comes.
package final class FilterCache: Sendable {
    /// A filter of one revision's features; revision numbers are unique over all sources.
    package struct ViewKey: Hashable, Sendable {
        package let revision: UInt64
        /// The filter's JSON text, by bytes: equality of strings would be canonical.
        package let filter: [UInt8]
        /// If the filter depends on it.
        package let zoom: Int8?
    }

    /// A property of a plain store's features.
    package struct ColumnKey: Hashable, Sendable {
        /// The store's, which those have too that were made of it by changes.
        package let lineage: UInt64
        /// The property's name, by bytes.
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
        /// Of what is there already.
        var order = UseOrder<Key>()
        var viewUses = (hits: 0, misses: 0)
        var columnUses = (hits: 0, misses: 0)
    }

    private let state = Mutex(State())
    private let budget: Int
    /// A user's views are built one after the other, each on all the cores that a build may use: many filters at once
    /// leave queries as much of the machine as one does, and decode the columns that they share once.
    private let building = UserLocks()

    package init(budget: Int) {
        self.budget = budget
    }

    /// Bytes that all that is kept holds.
    package var bytes: Int { state.withLock { $0.order.bytes } }

    /// How often a view was there when asked for, how often not, and what the views hold. O(what is kept).
    package var viewStatistics: CacheStatistics {
        state.withLock { state in
            let bytes = state.order.bytes { if case .view = $0 { true } else { false } }
            return CacheStatistics(hits: state.viewUses.hits, misses: state.viewUses.misses, bytes: bytes)
        }
    }

    /// The same for columns, where those count that were looked for when a view was built.
    package var columnStatistics: CacheStatistics {
        state.withLock { state in
            let bytes = state.order.bytes { if case .column = $0 { true } else { false } }
            return CacheStatistics(hits: state.columnUses.hits, misses: state.columnUses.misses, bytes: bytes)
        }
    }

    /// The view where it is there already. Never waits for a build.
    package func ready(_ key: ViewKey) -> View? {
        let entry = state.withLock { state -> Entry? in
            state.order.touch(.view(key))
            return state.views[key]
        }
        return entry?.view.withLock { $0 }
    }

    /// The view, built where it is not there. Blocks: only for threads of the pool.
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
                // It may have been forgotten while it was built.
                if state.views[key] != nil { state.keep(.view(key), bytes: view.memoryBytes, budget) }
            }
            return view
        }
    }

    /// A column where it is there.
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

    /// Forgets a revision's views.
    package func forget(revision: UInt64) {
        state.withLock { state in
            for key in state.views.keys where key.revision == revision { state.remove(.view(key)) }
        }
    }

    /// Forgets the columns of a store and of all that were made of it by changes.
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
