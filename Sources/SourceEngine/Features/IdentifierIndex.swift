// SPDX-License-Identifier: MIT

import Aggregates
import Clustering
import GeoJSON
import ImageStore
import SystemSupport

/// Finds features by id: the upper half of each id's hash and the feature's row, sorted.
///
/// Takes eight bytes for each feature with an id.
package struct IdentifierIndex: Sendable {
    /// The hash's upper 32 bits above the row.
    package let entries: SectionValues<UInt64>
    /// The key for hashing ids.
    package let key: SipHash
    /// Features that were added later, beyond the rows of `entries`.
    private var added: [FeatureIdentifier: [Int]] = [:]

    /// - Complexity: O(features); about 30 ms for a million on two threads.
    package init(
        _ store: FeatureStore, key: SipHash = .random(), threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) {
        self.key = key
        entries = SectionValues(
            try HashedPlaces.sorted(of: store, key: key, threads: threads, cancellation))
    }

    /// An index on stored entries.
    package init(entries: SectionValues<UInt64>, key: SipHash) { (self.entries, self.key) = (entries, key) }

    private init(sorted entries: [UInt64], _ key: SipHash) {
        self.entries = SectionValues(entries)
        self.key = key
    }

    package var memoryBytes: Int { entries.memoryBytes + added.count * 64 }

    /// Adds a feature whose row is above all others.
    package mutating func add(_ identifier: FeatureIdentifier, at place: Int) {
        added[identifier, default: []].append(place)
    }

    /// The rows of all features that have the id, ascending, in the store that the index was made from or one
    /// derived from it by updates. O(log features).
    package func places(of identifier: FeatureIdentifier, in store: FeatureStore) -> [Int] {
        var found: [Int] = []
        _ = firstPlace(of: identifier, in: store) {
            found.append($0)
            return false
        }
        return found
    }

    /// The first of these rows that satisfies a condition. O(log features + rows examined).
    package func firstPlace(
        of identifier: FeatureIdentifier, in store: FeatureStore, where isRight: (Int) -> Bool
    ) -> Int? {
        let prefix = Self.prefix(identifier.hash(key))
        let found = entries.withValues { (entries) -> Int? in
            for entry in entries[Self.firstEntry(of: prefix, in: entries)...] {
                guard Self.prefix(entry) == prefix else { break }
                let place = Int(UInt32(truncatingIfNeeded: entry))
                if store.featureIdentifier(place) == identifier, isRight(place) { return place }
            }
            return nil
        }
        return found ?? added[identifier]?.first { store.featureIdentifier($0) == identifier && isRight($0) }
    }

    /// Whether few enough features can have the id that examining all of them takes only microseconds. O(log
    /// features).
    package func hasFew(_ identifier: FeatureIdentifier) -> Bool {
        let prefix = Self.prefix(identifier.hash(key))
        let hasMany = entries.withValues { entries in
            let last = Self.firstEntry(of: prefix, in: entries) + Self.few
            return last < entries.count && Self.prefix(entries[last]) == prefix
        }
        if hasMany { return false }
        return added[identifier]?.count ?? 0 < Self.few
    }

    private static let few = 64

    /// The index in `entries` of the first hash with this prefix or a greater one.
    private static func firstEntry(of prefix: UInt64, in entries: UnsafeBufferPointer<UInt64>) -> Int {
        entries.partitionIndex { $0 < prefix }
    }

    /// The index of a store's `plain()`, without reading ids again.
    ///
    /// - Parameter store: the store of this index.
    /// - Complexity: O(1) if no feature was added or removed; otherwise O(features), several milliseconds for
    ///   a million.
    package func gathered(
        from store: FeatureStore, _ cancellation: Cancellation
    ) throws(SourceError) -> IdentifierIndex {
        let living = store.livingPlaces
        if living == nil, added.isEmpty { return self }
        let numbers = living.map { living in
            var numbers = [UInt32](repeating: .max, count: store.count)
            for (number, place) in living.enumerated() {
                numbers[Int(place)] = UInt32(truncatingIfNeeded: number)
            }
            return numbers
        }
        func renumbered(_ entry: UInt64) -> UInt64? {
            guard let numbers else { return entry }
            let number = numbers[Int(UInt32(truncatingIfNeeded: entry))]
            return number == .max ? nil : Self.prefix(entry) | UInt64(number)
        }
        let later = added.flatMap { identifier, places in
            let prefix = Self.prefix(identifier.hash(key))
            return places.compactMap { renumbered(prefix | UInt64(UInt32(truncatingIfNeeded: $0))) }
        }.sorted()
        var gathered: [UInt64] = []
        gathered.reserveCapacity(entries.count + later.count)
        var next = 0
        try entries.withValues { (entries) throws(SourceError) in
            for (place, entry) in entries.enumerated() {
                if place & (Self.entriesBetweenLooks - 1) == 0 { try cancellation.stopIfCancelled() }
                guard let entry = renumbered(entry) else { continue }
                while next < later.count, later[next] < entry {
                    gathered.append(later[next])
                    next += 1
                }
                gathered.append(entry)
            }
        }
        gathered += later[next...]
        return IdentifierIndex(sorted: gathered, key)
    }

    /// About a millisecond of work between two looks at a cancellation.
    static let entriesBetweenLooks = 1 << 16

    package static func prefix(_ hash: UInt64) -> UInt64 { hash & 0xffff_ffff_0000_0000 }
}

extension FeatureStore {
    /// A feature's id in comparable form; nil if it has none.
    package func featureIdentifier(_ place: Int) -> FeatureIdentifier? {
        withIdentifier(place) { text in text.flatMap { FeatureIdentifier(json: $0) } }
    }

    /// The id's hash; nil if the feature has none.
    package func identifierHash(_ place: Int, _ key: SipHash) -> UInt64? {
        withIdentifier(place) { text in text.flatMap { FeatureIdentifier.hash(json: $0, key) } }
    }
}

/// Features' rows, each below the upper half of its id's hash: the entries of an index by id.
package enum HashedPlaces {
    /// Below this many features a second thread costs more than it saves.
    private static let smallestShare = 1 << 15

    /// All features that have an id, by hash and then by row. O(features).
    package static func sorted(
        of store: FeatureStore, key: SipHash, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt64] {
        let shares = max(1, min(threads, store.count / smallestShare))
        let parts = Parallel(.shared, threads: threads).map(below: shares) { share in
            let rows = store.count * share / shares..<store.count * (share + 1) / shares
            return hashed(rows, of: store, key, cancellation)
        }
        try cancellation.stopIfCancelled()
        // The rows already ascend.
        return NumberSort.byUpperHalf(parts, threads: threads)
    }

    private static func hashed(
        _ rows: Range<Int>, of store: FeatureStore, _ key: SipHash, _ cancellation: Cancellation
    ) -> [UInt64] {
        var hashed: [UInt64] = []
        hashed.reserveCapacity(rows.count)
        let scan = FeatureScan(store)
        for place in rows {
            if place & 0xffff == 0, cancellation.isCancelled { break }
            let hash = scan.withIdentifier(place) { text in
                text.flatMap { FeatureIdentifier.hash(json: $0, key) }
            }
            guard let hash else { continue }
            hashed.append(IdentifierIndex.prefix(hash) | UInt64(UInt32(truncatingIfNeeded: place)))
        }
        return hashed
    }
}
