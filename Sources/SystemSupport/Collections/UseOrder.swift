// SPDX-License-Identifier: MIT

/// Keys by their last use, each with the bytes that it stands for. O(1) amortised, but for `removeOldest`, which
/// takes as long as there are keys to be removed.
package struct UseOrder<Key: Hashable & Sendable>: Sendable {
    private struct Kept {
        var use: UInt64
        let bytes: Int
    }

    private var kept: [Key: Kept] = [:]
    /// All uses since the oldest key's last, in their order; of a key only the last one counts.
    private var uses: [(key: Key, use: UInt64)] = []
    /// Those before are worked off.
    private var first = 0
    private var lastUse: UInt64 = 0
    /// What all keys together stand for.
    package private(set) var bytes = 0

    package init() {}

    /// Adds a key, or changes its bytes; either is a use.
    package mutating func put(_ key: Key, bytes size: Int) {
        remove(key)
        kept[key] = Kept(use: lastUse, bytes: size)
        bytes += size
        touch(key)
    }

    /// Makes a key the one used last; if it is not there, nothing happens.
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

    /// Removes keys, the one used longest ago first, until the others are within a budget; the key
    /// used last stays in any case.
    ///
    /// - Returns: those removed.
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

    private mutating func dropStale() {
        uses = uses[first...].filter { kept[$0.key]?.use == $0.use }
        first = 0
    }

    /// The bytes of the keys for which `isCounted` is true. O(keys).
    package func bytes(where isCounted: (Key) -> Bool) -> Int {
        kept.reduce(0) { isCounted($1.key) ? $0 + $1.value.bytes : $0 }
    }
}
