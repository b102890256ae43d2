// SPDX-License-Identifier: MIT

/// Keys in the order of their last use, each with a size in bytes. O(1) amortized, except `removeOldest`, which
/// takes O(removed keys).
package struct UseOrder<Key: Hashable & Sendable>: Sendable {
    private struct Kept {
        var use: UInt64
        let bytes: Int
    }

    private var kept: [Key: Kept] = [:]
    /// All uses since the oldest key's last one, in order. Only the last use of each key is valid.
    private var uses: [(key: Key, use: UInt64)] = []
    /// Uses before this index have been processed.
    private var first = 0
    private var lastUse: UInt64 = 0
    /// The total size of all keys.
    package private(set) var bytes = 0

    package init() {}

    /// Adds a key or changes its size. Both count as a use.
    package mutating func put(_ key: Key, bytes size: Int) {
        remove(key)
        kept[key] = Kept(use: lastUse, bytes: size)
        bytes += size
        touch(key)
    }

    /// Marks a key as just used. Does nothing if it is not there.
    package mutating func touch(_ key: Key) {
        guard kept[key] != nil else { return }
        lastUse += 1
        kept[key]?.use = lastUse
        uses.append((key, lastUse))
        if uses.count > 2 * kept.count + 64 { dropStale() }
    }

    package mutating func remove(_ key: Key) {
        guard let old = kept.removeValue(forKey: key) else { return }
        bytes -= old.bytes
    }

    /// Removes the least recently used keys until the others are within a budget. The key used last always stays.
    ///
    /// - Returns: the removed keys.
    package mutating func removeOldest(toFit budget: Int) -> [Key] {
        var removed: [Key] = []
        while bytes > budget, kept.count > 1, first < uses.count {
            let (key, use) = uses[first]
            first += 1
            guard kept[key]?.use == use else { continue }
            remove(key)
            removed.append(key)
        }
        return removed
    }

    /// All keys, the least recently used one first. O(uses).
    package var leastRecentFirst: [Key] {
        uses[first...].filter { kept[$0.key]?.use == $0.use }.map(\.key)
    }

    /// A key's size in bytes; nil if it is not there.
    package func bytes(of key: Key) -> Int? { kept[key]?.bytes }

    private mutating func dropStale() {
        uses = uses[first...].filter { kept[$0.key]?.use == $0.use }
        first = 0
    }

    /// The size of the keys for which `isCounted` is true. O(keys).
    package func bytes(where isCounted: (Key) -> Bool) -> Int {
        kept.reduce(0) { isCounted($1.key) ? $0 + $1.value.bytes : $0 }
    }
}
