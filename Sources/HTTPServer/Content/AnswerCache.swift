// SPDX-License-Identifier: MIT
import RPC
import Synchronization

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

    /// Targets of the same hash replace each other.
    fileprivate struct Key: Hashable {
        let hash: UInt64
        let acceptsGzip: Bool

        init(_ target: ArraySlice<UInt8>, _ acceptsGzip: Bool) {
            hash = EntityTag.hash(target)
            self.acceptsGzip = acceptsGzip
        }
    }

    fileprivate struct State {
        var entries: [Key: (target: [UInt8], entry: Entry)] = [:]
        var ages = AgeOrder<Key>()
        var bytes = 0
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
    func entry(_ target: ArraySlice<UInt8>, acceptsGzip: Bool, _ tag: EntityTag) -> Entry? {
        let key = Key(target, acceptsGzip)
        guard let kept = state.withLock({ $0.entries[key] }), kept.entry.tag == tag,
            target.hasSameBytes(as: kept.target)
        else { return nil }
        return kept.entry
    }

    /// Caches an answer, unless it takes more than a sixteenth of the capacity.
    func keep(_ entry: Entry, _ target: ArraySlice<UInt8>, acceptsGzip: Bool) {
        let limit = limit.load(ordering: .relaxed)
        guard Self.cost(entry, target.count) <= limit / 16 else { return }
        let key = Key(target, acceptsGzip)
        state.withLock { state in
            state.remove(key)
            state.entries[key] = (Array(target), entry)
            state.ages.add(key)
            state.bytes += Self.cost(entry, target.count)
            while state.bytes > limit, let oldest = state.ages.takeOldest() { state.remove(oldest) }
            counters.tileBytes.store(state.bytes, ordering: .relaxed)
        }
    }

    /// The approximate memory of an entry besides its bytes.
    private static let overhead = 256

    fileprivate static func cost(_ entry: Entry, _ target: Int) -> Int {
        entry.body.count + target + overhead
    }
}

extension AnswerCache.State {
    fileprivate mutating func remove(_ key: AnswerCache.Key) {
        guard let kept = entries.removeValue(forKey: key) else { return }
        bytes -= AnswerCache.cost(kept.entry, kept.target.count)
    }
}

/// Keys in the order in which they were last added. Each change is amortised O(1), and the memory is proportional
/// to the number of keys, however often they are added.
struct AgeOrder<Key: Hashable> {
    /// The number with which each key was last added.
    private var numbers: [Key: UInt64] = [:]
    /// Keys in the order of addition. An entry counts if its key still has its number.
    private var queue: [(key: Key, number: UInt64)] = []
    private var first = 0
    private var last: UInt64 = 0

    /// How many entries there may be in addition to twice the number of keys.
    private static var slack: Int { 1024 }

    /// The number of keys.
    var count: Int { numbers.count }
    /// The number of entries for them.
    var entries: Int { queue.count }

    /// Makes a key the youngest.
    mutating func add(_ key: Key) {
        last += 1
        numbers[key] = last
        queue.append((key, last))
        if queue.count > 2 * numbers.count + Self.slack { removeStale() }
    }

    /// Removes the oldest key and returns it; nil if there is none.
    mutating func takeOldest() -> Key? {
        while first < queue.count {
            let (key, number) = queue[first]
            first += 1
            guard numbers[key] == number else { continue }
            numbers[key] = nil
            return key
        }
        return nil
    }

    private mutating func removeStale() {
        queue = queue[first...].filter { numbers[$0.key] == $0.number }
        first = 0
    }
}
