// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import ImageStore
import SystemSupport

/// Finds features by id: the upper half of each id's hash and the feature's number in the input, which mostly is its row,
/// sorted.
///
/// Takes eight bytes for each feature with an id.
package struct IdentifierIndex: Sendable {
    /// The hash's upper 32 bits above the number in the input.
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
        entries = SectionValues(try Self.entries(of: store, key: key, threads: threads, cancellation))
    }

    /// An index on stored entries.
    package init(entries: SectionValues<UInt64>, key: SipHash) { (self.entries, self.key) = (entries, key) }

    package var memoryBytes: Int { entries.memoryBytes + added.count * 64 }

    /// Whether features were added that are not among `entries`.
    var hasAdditions: Bool { !added.isEmpty }

    /// Adds a feature whose row is above all others.
    package mutating func add(_ identifier: FeatureIdentifier, at row: Int) {
        added[identifier, default: []].append(row)
    }

    /// The rows of all features that have the id, in the order of the input, in the store that the index was made from or one
    /// derived from it by updates. O(log features).
    package func rows(of identifier: FeatureIdentifier, in store: FeatureStore) -> Rows {
        let prefix = Self.prefix(identifier.hash(key))
        return entries.withValues { entries in
            rows(of: identifier, prefix, in: store, entries[Self.firstEntry(of: prefix, in: entries)...])
        }
    }

    /// The rows of each of many ids. Looks for several at once, so that the waits for memory overlap.
    package func rows(of identifiers: ArraySlice<FeatureIdentifier>, in store: FeatureStore) -> [Rows] {
        var found: [Rows] = []
        found.reserveCapacity(identifiers.count)
        entries.withValues { entries in
            for start in stride(from: identifiers.startIndex, to: identifiers.endIndex, by: Self.batchSize) {
                let batch = identifiers[start..<min(start + Self.batchSize, identifiers.endIndex)]
                let prefixes = batch.map { Self.prefix($0.hash(key)) }
                let first = Self.firstEntries(of: prefixes, in: entries)
                // Not the feature of another id, which may lie on a disk.
                for (prefix, entry) in zip(prefixes, first)
                where entry < entries.count && Self.prefix(entries[entry]) == prefix {
                    store.touch(row(of: entries[entry], in: store))
                }
                for (identifier, (prefix, entry)) in zip(batch, zip(prefixes, first)) {
                    found.append(rows(of: identifier, prefix, in: store, entries[entry...]))
                }
            }
        }
        return found
    }

    private static let batchSize = 32

    /// - Parameters:
    ///   - prefix: that of the id's hash.
    ///   - entries: from the first one on that has this prefix or a greater one.
    private func rows(
        of identifier: FeatureIdentifier, _ prefix: UInt64, in store: FeatureStore,
        _ entries: Slice<UnsafeBufferPointer<UInt64>>
    ) -> Rows {
        var found = Rows()
        _ = firstRow(of: identifier, prefix, in: store, entries) {
            found.append($0)
            return false
        }
        return found
    }

    private func row(of entry: UInt64, in store: FeatureStore) -> Int {
        store.row(ofInput: Int(UInt32(truncatingIfNeeded: entry)))
    }

    /// Rows of features with the same id. A single one, as most ids have, takes no memory of its own.
    package struct Rows: RandomAccessCollection, Sendable, Equatable {
        package private(set) var first: Int?
        private var others: [Int] = []

        fileprivate mutating func append(_ row: Int) {
            if first == nil { first = row } else { others.append(row) }
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { first == nil ? 0 : 1 + others.count }
        package subscript(index: Int) -> Int {
            guard index == 0, let first else { return others[index - 1] }
            return first
        }
    }

    /// The first of these rows that satisfies a condition. O(log features + rows examined).
    package func firstRow(
        of identifier: FeatureIdentifier, in store: FeatureStore, where isRight: (Int) -> Bool
    ) -> Int? {
        let prefix = Self.prefix(identifier.hash(key))
        return entries.withValues { entries in
            let entries = entries[Self.firstEntry(of: prefix, in: entries)...]
            return firstRow(of: identifier, prefix, in: store, entries, where: isRight)
        }
    }

    private func firstRow(
        of identifier: FeatureIdentifier, _ prefix: UInt64, in store: FeatureStore,
        _ entries: Slice<UnsafeBufferPointer<UInt64>>, where isRight: (Int) -> Bool
    ) -> Int? {
        for entry in entries {
            guard Self.prefix(entry) == prefix else { break }
            let row = row(of: entry, in: store)
            if store.featureIdentifier(row) == identifier, isRight(row) { return row }
        }
        return added[identifier]?.first { store.featureIdentifier($0) == identifier && isRight($0) }
    }

    /// Whether few enough features can have the id that examining all of them takes only microseconds. O(log features).
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
    ///
    /// Hashes are uniform, so two guesses come within about a hundred entries of it: that reads two or three pages of
    /// a file, where a binary search reads one for each of its first steps.
    static func firstEntry<Entries: RandomAccessCollection<UInt64>>(
        of prefix: UInt64, in entries: Entries
    ) -> Int where Entries.Index == Int {
        guard !entries.isEmpty else { return 0 }
        let guess = better(than: firstGuess(prefix, entries), for: prefix, in: entries)
        return firstEntry(of: prefix, in: entries, near: guess, within: 128)
    }

    /// The same for each of several prefixes, with a third guess. The waits for the memory of one guess overlap.
    static func firstEntries(of prefixes: [UInt64], in entries: UnsafeBufferPointer<UInt64>) -> [Int] {
        guard !entries.isEmpty else { return prefixes.map { _ in 0 } }
        var guesses = prefixes.map { firstGuess($0, entries) }
        for _ in 0..<2 {
            for number in guesses.indices {
                guesses[number] = better(than: guesses[number], for: prefixes[number], in: entries)
            }
        }
        return zip(prefixes, guesses).map { firstEntry(of: $0, in: entries, near: $1, within: 8) }
    }

    /// - Parameter reach: how far from the guess it mostly is.
    @inline(__always) private static func firstEntry<Entries: RandomAccessCollection<UInt64>>(
        of prefix: UInt64, in entries: Entries, near guess: Int, within reach: Int
    ) -> Int where Entries.Index == Int {
        var reach = reach
        while true {
            let (low, high) = (max(0, guess - reach), min(entries.count, guess + reach))
            if low == 0 || entries[low - 1] < prefix, high == entries.count || entries[high] >= prefix {
                return entries[low..<high].partitionIndex { $0 < prefix }
            }
            reach *= 4
        }
    }

    @inline(__always) private static func firstGuess(
        _ prefix: UInt64, _ entries: some RandomAccessCollection<UInt64>
    ) -> Int {
        index(Double(prefix) * density(entries), in: entries)
    }

    @inline(__always) private static func better<Entries: RandomAccessCollection<UInt64>>(
        than guess: Int, for prefix: UInt64, in entries: Entries
    ) -> Int where Entries.Index == Int {
        index(Double(guess) + (Double(prefix) - Double(entries[guess])) * density(entries), in: entries)
    }

    /// Entries per possible hash.
    @inline(__always) private static func density(_ entries: some RandomAccessCollection<UInt64>) -> Double {
        Double(entries.count) / 0x1p64
    }

    /// A computed index, clamped to the entries.
    @inline(__always) private static func index(
        _ computed: Double, in entries: some RandomAccessCollection<UInt64>
    ) -> Int {
        Int(max(0, min(Double(entries.count - 1), computed)))
    }

    package static func prefix(_ hash: UInt64) -> UInt64 { hash & 0xffff_ffff_0000_0000 }
}

extension FeatureStore {
    /// A feature's id in comparable form; nil if it has none.
    package func featureIdentifier(_ row: Int) -> FeatureIdentifier? {
        withIdentifier(row) { text in text.flatMap { FeatureIdentifier(json: $0) } }
    }

    /// The id's hash; nil if the feature has none.
    package func identifierHash(_ row: Int, _ key: SipHash) -> UInt64? {
        withIdentifier(row) { text in text.flatMap { FeatureIdentifier.hash(json: $0, key) } }
    }
}

extension IdentifierIndex {
    /// Below this many features a second thread costs more than it saves.
    private static let leastRows = 1 << 15

    /// The numbers in the input of all features that have an id, each below the upper half of its id's hash, sorted.
    /// O(features).
    static func entries(
        of store: FeatureStore, key: SipHash, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt64] {
        try sorted(store, threads: threads, cancellation) { hashed($0, of: store, key, cancellation) }
    }

    /// What is made of each range of rows on a thread of its own, sorted by the upper halves and then by when the features
    /// were read.
    ///
    /// - Parameter make: the entries of some rows, ascending.
    static func sorted(
        _ store: FeatureStore, threads: Int, _ cancellation: Cancellation, _ make: @Sendable (Range<Int>) -> [UInt64]
    ) throws(SourceError) -> [UInt64] {
        let rowCount = store.count
        let partCount = max(1, min(threads, rowCount / leastRows))
        let parts = Parallel(.shared, threads: threads).map(below: partCount) { part in
            make(rowCount * part / partCount..<rowCount * (part + 1) / partCount)
        }
        try cancellation.stopIfCancelled()
        // The rows already ascend.
        guard let numbers = store.inputNumbers else { return NumberSort.byUpperHalf(parts, threads: threads) }
        var entries = parts.joined().map { prefix($0) | UInt64(numbers[Int(UInt32(truncatingIfNeeded: $0))]) }
        NumberSort.sort(&entries)
        return entries
    }

    private static func hashed(
        _ rows: Range<Int>, of store: FeatureStore, _ key: SipHash, _ cancellation: Cancellation
    ) -> [UInt64] {
        var hashed: [UInt64] = []
        hashed.reserveCapacity(rows.count)
        let scan = FeatureScan(store)
        for row in rows {
            if row & 0xffff == 0, cancellation.isCancelled { break }
            let hash = scan.withIdentifier(row) { text in
                text.flatMap { FeatureIdentifier.hash(json: $0, key) }
            }
            guard let hash else { continue }
            hashed.append(prefix(hash) | UInt64(UInt32(truncatingIfNeeded: row)))
        }
        return hashed
    }
}
