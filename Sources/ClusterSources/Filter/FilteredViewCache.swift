// SPDX-License-Identifier: MIT
import Synchronization

/// The views of filters lately used, over all sources, within a budget of bytes.
///
/// A view is built once, however many ask for it at once; those others wait. Views of the least recent use
/// go first. One that is larger than the whole budget is kept until the next comes.
final class FilteredViewCache: Sendable {
    /// A filter of one revision's features; revision numbers are unique over all sources.
    struct Key: Hashable, Sendable {
        let revision: UInt64
        /// The filter's JSON text, by bytes: equality of strings would be canonical.
        let filter: [UInt8]
        /// Where the filter depends on it.
        let zoom: Int8?
    }

    private final class Entry: Sendable {
        let turn = Turn()
        let view = Mutex<View?>(nil)
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// By last use, the latest at the end. Short: a budget holds few indexes.
        var order: [Key] = []
        var bytes: [Key: Int] = [:]
        var hits = 0
        var misses = 0
    }

    private let state = Mutex(State())
    private let budget: Int
    /// Views are built one after the other, each on all the cores that a build may use: many filters at once
    /// leave queries as much of the machine as one does.
    private let building = Turn()

    init(budget: Int) {
        self.budget = budget
    }

    /// Bytes that the kept views hold.
    var bytes: Int { state.withLock { $0.bytes.values.reduce(0, +) } }

    /// How often a view was there when asked for, and how often not.
    var uses: (hits: Int, misses: Int) { state.withLock { ($0.hits, $0.misses) } }

    /// The view where it is there already. Never waits for a build.
    func ready(_ key: Key) -> View? {
        let entry = state.withLock { state -> Entry? in
            guard let entry = state.entries[key] else { return nil }
            Self.touch(key, &state)
            return entry
        }
        return entry?.view.withLock { $0 }
    }

    /// The view, built where it is not there. Blocks: only for threads of the pool.
    func view(
        _ key: Key, _ cancellation: Cancellation, build: () throws(SourceError) -> View
    ) throws(SourceError) -> View {
        let entry = state.withLock { state -> Entry in
            Self.touch(key, &state)
            if let entry = state.entries[key] { return entry }
            let entry = Entry()
            state.entries[key] = entry
            return entry
        }
        return try entry.turn.take(cancellation) { () throws(SourceError) -> View in
            if let view = entry.view.withLock({ $0 }) {
                state.withLock { $0.hits += 1 }
                return view
            }
            let view: View
            do throws(SourceError) {
                view = try building.take(cancellation, build)
            } catch {
                state.withLock { Self.remove(key, &$0) }
                throw error
            }
            entry.view.withLock { $0 = view }
            keep(key, bytes: view.memoryBytes)
            return view
        }
    }

    /// Forgets a revision's views.
    func forget(revision: UInt64) {
        state.withLock { state in
            for key in state.order where key.revision == revision { Self.remove(key, &state) }
        }
    }

    private func keep(_ key: Key, bytes: Int) {
        state.withLock { state in
            state.misses += 1
            // It may have been forgotten while it was built.
            guard state.entries[key] != nil else { return }
            state.bytes[key] = bytes
            var total = state.bytes.values.reduce(0, +)
            for old in state.order where total > budget && old != key {
                guard let size = state.bytes[old] else { continue }
                total -= size
                Self.remove(old, &state)
            }
        }
    }

    private static func touch(_ key: Key, _ state: inout State) {
        state.order.removeAll { $0 == key }
        state.order.append(key)
    }

    private static func remove(_ key: Key, _ state: inout State) {
        state.entries[key] = nil
        state.bytes[key] = nil
        state.order.removeAll { $0 == key }
    }
}
