// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// A cache of tiles as sent, so that a frequently requested tile is made and compressed once. Safe from any thread.
///
/// The oldest entries are evicted first. An entry whose data have changed is replaced by the next request for it.
package final class AnswerCache: Sendable {
    /// Bytes of an answer. Immutable.
    final class Entry: Sendable {
        let tag: EntityTag
        let isGzipped: Bool
        let body: [UInt8]

        init(tag: EntityTag, isGzipped: Bool, body: [UInt8]) {
            self.tag = tag
            self.isGzipped = isGzipped
            self.body = body
        }
    }

    private struct Key: Hashable {
        let target: ArraySlice<UInt8>
        /// The part of the source that it shows.
        let part: [UInt8]
        let acceptsGzip: Bool
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The entries in the order in which they were cached.
        var order = UseOrder<Key>()
    }

    private let state = Mutex(State())
    private let limit: Atomic<Int>

    private let counters: HTTPCounters

    init(limit: Int, held counters: HTTPCounters) {
        self.limit = Atomic(limit)
        self.counters = counters
    }

    func setLimit(_ limit: Int) { self.limit.store(limit, ordering: .relaxed) }

    /// The answer for a target and tag, for a client that accepts gzip or one that does not.
    func entry(_ target: ArraySlice<UInt8>, part: [UInt8] = [], acceptsGzip: Bool, _ tag: EntityTag) -> Entry? {
        let key = Key(target: target, part: part, acceptsGzip: acceptsGzip)
        return state.withLock { $0.entries[key] }.flatMap { $0.tag == tag ? $0 : nil }
    }

    /// Caches an answer, unless it takes more than a sixteenth of the capacity.
    func keep(_ entry: Entry, _ target: ArraySlice<UInt8>, part: [UInt8] = [], acceptsGzip: Bool) {
        let limit = limit.load(ordering: .relaxed)
        let cost = entry.body.count + target.count + part.count + Self.overhead
        guard cost <= limit / 16 else { return }
        // A copy, since the slice keeps all of its request's head.
        let key = Key(target: Array(target)[...], part: part, acceptsGzip: acceptsGzip)
        state.withLock { state in
            state.entries[key] = entry
            state.order.put(key, bytes: cost)
            for oldest in state.order.removeOldest(toFit: limit) { state.entries[oldest] = nil }
            counters.tileBytes.store(state.order.bytes, ordering: .relaxed)
        }
    }

    /// The approximate memory of an entry besides its bytes.
    private static let overhead = 256
}
