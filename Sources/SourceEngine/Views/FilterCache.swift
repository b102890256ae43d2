// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import Synchronization
import SystemSupport

/// A cache for recently used filters, with one budget of bytes for all sources. It holds the views of features that
/// pass and the columns that filters read.
///
/// A view is built once, even if many callers request it at the same time; the others wait. The least recently used
/// entry is evicted first. An entry larger than the whole budget is kept until the next one arrives.
package final class FilterCache: Sendable {
    /// A filter of one revision's features. Revision numbers are unique over all sources.
    package struct ViewKey: Hashable, Sendable {
        package let revision: UInt64
        /// The name of the view whose features are filtered; nil for all.
        package var view: SourceName?
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

    /// A column and the claim of its memory, which whoever uses the column holds.
    package struct Column: Sendable {
        package let values: PropertyColumn
        package fileprivate(set) var claim: MemoryClaim

        package init(_ values: PropertyColumn, _ claim: MemoryClaim) {
            (self.values, self.claim) = (values, claim)
        }
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
        var columns: [ColumnKey: Column] = [:]
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
    /// Views of different users are built together. One that found no room beside others is built alone.
    let room = FairLock()

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
        state.withLock { state in
            state.order.touch(.view(key))
            let view = state.views[key]?.view.withLock { $0 }
            if view != nil { state.viewUses.hits += 1 }
            return view
        }
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
                view = try building.withLock(cancellation, orThrow: .cancelled) { () throws(SourceError) in
                    try inRoom(cancellation, build)
                }
            } catch {
                _ = state.withLock { $0.remove(.view(key)) }
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

    /// Builds beside other users' builds, or, if there is no room beside them, again once they are done.
    private func inRoom(
        _ cancellation: Cancellation, _ build: () throws(SourceError) -> View
    ) throws(SourceError) -> View {
        var isCrowded = false
        do throws(SourceError) {
            return try room.withSharedLock(cancellation, orThrow: .cancelled) { () throws(SourceError) in
                defer { isCrowded = room.sharerCount > 1 }
                return try build()
            }
        } catch {
            guard case .tooLarge = error, isCrowded else { throw error }
        }
        return try room.withLock(cancellation, orThrow: .cancelled, build)
    }

    /// A column, if it is cached.
    package func column(_ key: ColumnKey) -> Column? {
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

    package func keep(_ column: Column, as key: ColumnKey) {
        state.withLock { state in
            state.columns[key] = column
            state.keep(.column(key), bytes: column.values.memoryBytes, budget)
        }
    }

    /// Evicts what was used least recently until so many bytes are free. What is in use stays, since evicting that
    /// frees nothing.
    ///
    /// - Returns: whether anything was evicted.
    /// - Complexity: O(entries).
    package func makeRoom(_ bytes: Int) -> Bool {
        // Freed without the lock.
        let evicted = state.withLock { state in
            var (evicted, freed): ([any Sendable], Int) = ([], 0)
            for key in state.order.leastRecentFirst where freed < bytes && !state.isUsed(key) {
                freed += state.order.bytes(of: key) ?? 0
                if let value = state.remove(key) { evicted.append(value) }
            }
            return evicted
        }
        return !evicted.isEmpty
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

    /// - Returns: what was removed.
    @discardableResult package mutating func remove(_ key: FilterCache.Key) -> (any Sendable)? {
        order.remove(key)
        switch key {
        case .view(let key): return views.removeValue(forKey: key)
        case .column(let key): return columns.removeValue(forKey: key)
        }
    }

    /// Whether anyone but the cache holds the value of a key.
    fileprivate mutating func isUsed(_ key: FilterCache.Key) -> Bool {
        switch key {
        case .view(let key):
            return !(views[key]?.view.withLock { isKnownUniquelyReferenced(&$0) } ?? false)
        case .column(let key):
            guard var column = columns.removeValue(forKey: key) else { return true }
            defer { columns[key] = column }
            return !isKnownUniquelyReferenced(&column.claim)
        }
    }
}

/// Statistics of a registry's cache.
public struct CacheStatistics: Sendable, Equatable {
    public var hits: Int
    public var misses: Int
    /// Bytes that the cache holds; nil if they count as its sources' memory.
    public var bytes: Int?
}
