// SPDX-License-Identifier: MIT
import GeoJSON
import ImageStore
import JSON
import Synchronization
import SystemSupport

/// Maps every feature to a number of 48 bits, the same in every revision and every daemon, and back.
///
/// The number is a hash of the feature's id, or of its text if it has no id. Features with equal hashes, such
/// as those with the same id, are ranked by their ids and then in the order of the input. Each but the first gets a
/// number derived from the hash and its rank. Takes 8 bytes for each feature.
package struct FeatureCodes: Sendable {
    package static let bits: UInt64 = 48
    static let mask: UInt64 = (1 << bits) - 1
    /// The distance between the numbers of features with equal hashes. It is odd, so that ranks below 2^48
    /// give different numbers.
    private static let step: UInt64 = 0x9e37_79b9_7f4b
    /// The inverse of `step` modulo 2^48.
    private static let inverse: UInt64 = {
        // Newton's iteration doubles the number of correct bits each time.
        var inverse: UInt64 = step
        for _ in 0..<6 { inverse = inverse &* (2 &- step &* inverse) }
        return inverse & mask
    }()

    /// The key for hashing ids here. It is the same everywhere, unlike the key of `IdentifierIndex`, because
    /// clients see the result.
    package static let key = SipHash(0, 0)

    /// Features with an id: the upper half of the hash above the number in the input, sorted.
    private let identified: SectionValues<UInt64>
    /// Features without an id: the upper half of the hash above the number in the input, sorted.
    private let anonymous: SectionValues<UInt64>
    /// Upper halves of hashes that several features share, sorted.
    private let repeated: SectionValues<UInt32>
    /// Further ones since updates added features.
    private var repeatedLater: Set<UInt32> = []
    /// By upper half of the hash: rows of features that updates added.
    private var added: [UInt32: [Int]] = [:]
    private var groups = Groups()
    /// Which features count; nil for all.
    private var counts: (@Sendable (_ row: Int) -> Bool)?

    /// Features with equal hashes, found once for each revision, and for each view whose readers see only a part.
    final class Groups: Sendable {
        struct Group {
            var rows: [Int]
            var ranks: [Int: Int]
        }
        fileprivate let known = Mutex<[UInt64: Group]>([:])
        fileprivate let derived = Mutex<[UInt64]?>(nil)

        init() {}
    }

    /// Whether an index by id, which is not empty, is on the same array.
    func hasEntries(of identifiers: IdentifierIndex) -> Bool {
        identified.withValues { own in
            identifiers.entries.withValues {
                !own.isEmpty && $0.baseAddress == own.baseAddress && $0.count == own.count
            }
        }
    }

    /// The codes if only some features count.
    ///
    /// - Parameter groups: what was found of these features before.
    func counting(_ groups: Groups, _ counts: @escaping @Sendable (_ row: Int) -> Bool) -> FeatureCodes {
        var codes = self
        (codes.groups, codes.counts) = (groups, counts)
        return codes
    }

    /// - Complexity: O(features); about 5 ms for a million with ids, 300 ms of one processor without.
    package init(_ store: FeatureStore, threads: Int, _ cancellation: Cancellation) throws(SourceError) {
        let identified = try IdentifierIndex.entries(of: store, key: Self.key, threads: threads, cancellation)
        let anonymous =
            identified.count < store.count ? try Self.anonymous(of: store, threads: threads, cancellation) : []
        self.identified = SectionValues(identified)
        self.anonymous = SectionValues(anonymous)
        var repeated: [UInt32] = []
        Self.visitRepeated(identified, anonymous) { if repeated.last != $0 { repeated.append($0) } }
        self.repeated = SectionValues(repeated)
    }

    /// The features without an id: the upper half of the hash of each one's text above its number in the input, sorted.
    private static func anonymous(
        of store: FeatureStore, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt64] {
        try IdentifierIndex.sorted(store, threads: threads, cancellation) { rows in
            var entries: [UInt64] = []
            for row in rows where !store.isRemoved(row) && !store.hasIdentifier(row) {
                if row & 0xfff == 0, cancellation.isCancelled { break }
                entries.append(
                    IdentifierIndex.prefix(hash(of: row, in: store)) | UInt64(UInt32(truncatingIfNeeded: row)))
            }
            return entries
        }
    }

    /// Codes of features whose hashes are sorted elsewhere.
    ///
    /// - Parameters:
    ///   - identified: of features with an id: the upper half of the hash above the number in the input, sorted.
    ///   - anonymous: of the others.
    ///   - repeated: the upper halves that occur more than once, sorted.
    package init(
        identified: SectionValues<UInt64>, anonymous: SectionValues<UInt64>, repeated: SectionValues<UInt32>
    ) {
        (self.identified, self.anonymous, self.repeated) = (identified, anonymous, repeated)
    }

    /// The names of the sections with the codes of a plain store.
    package struct Sections: Sendable {
        let identified, anonymous, repeated: UInt32
    }

    /// Codes on arrays that `store` wrote.
    init(from reader: SectionFileReader, _ names: Sections) throws(StateFault) {
        identified = try reader.borrowed(names.identified)
        anonymous = try reader.borrowed(names.anonymous)
        repeated = try reader.borrowed(names.repeated)
    }

    /// Writes the codes of a plain store.
    package func store(in writer: SectionFileWriter, _ names: Sections) throws(FileError) {
        try writer.add(names.identified, identified)
        try writer.add(names.anonymous, anonymous)
        guard !repeatedLater.isEmpty else { return try writer.add(names.repeated, repeated) }
        let all = repeated.withValues { repeatedLater.union($0) }
        try writer.add(names.repeated, all.sorted())
    }

    package var memoryBytes: Int {
        identified.memoryBytes + anonymous.memoryBytes + repeated.memoryBytes + repeatedLater.count * 8
            + added.count * 48
    }

    /// The codes after an update has added features.
    package func adding(_ rows: Range<Int>, in store: FeatureStore) -> FeatureCodes {
        var later = self
        later.groups = Groups()
        for row in rows { later.note(row, in: store) }
        return later
    }

    private mutating func note(_ row: Int, in store: FeatureStore) {
        let prefix = UInt32(truncatingIfNeeded: Self.hash(of: row, in: store) >> 32)
        if !candidates(prefix).isEmpty { repeatedLater.insert(prefix) }
        added[prefix, default: []].append(row)
    }

    /// A feature's number.
    package func code(of row: Int, in store: FeatureStore) -> UInt64 {
        let hash = Self.hash(of: row, in: store)
        let rank = rank(of: row, hash, in: store)
        return (hash >> (64 - Self.bits) &+ UInt64(rank) &* Self.step) & Self.mask
    }

    /// The hash of a feature's id or text, and how many features with the same hash come before it: mostly 0.
    /// No other feature has both.
    package func identity(of row: Int, in store: FeatureStore) -> (hash: UInt64, rank: Int) {
        let hash = Self.hash(of: row, in: store)
        return (hash, rank(of: row, hash, in: store))
    }

    private func rank(of row: Int, _ hash: UInt64, in store: FeatureStore) -> Int {
        guard isRepeated(UInt32(truncatingIfNeeded: hash >> 32)) else { return 0 }
        return group(hash >> (64 - Self.bits), in: store).ranks[row] ?? 0
    }

    /// The feature with a number; nil if there is none. O(log features), and O(groups) for features with equal hashes.
    package func row(of code: UInt64, in store: FeatureStore) -> Int? {
        guard code <= Self.mask else { return nil }
        if let first = onlyRow(of: code, in: store) ?? group(code, in: store).rows.first { return first }
        for start in derivedGroups(in: store) {
            let rank = ((code &- start) &* Self.inverse) & Self.mask
            let rows = group(start, in: store).rows
            if rank > 0, rank < UInt64(rows.count) { return rows[Int(rank)] }
        }
        return nil
    }

    /// The feature with a number, if no other feature's hash has the same upper half, which is true of nearly all.
    /// Unlike `group` it allocates nothing.
    private func onlyRow(of code: UInt64, in store: FeatureStore) -> Int? {
        let prefix = UInt32(truncatingIfNeeded: code >> (Self.bits - 32))
        guard !isRepeated(prefix),
            let number = Self.first(prefix, in: identified) ?? Self.first(prefix, in: anonymous)
                ?? added[prefix]?.first,
            case let row = store.row(ofInput: number), !store.isRemoved(row),
            Self.hash(of: row, in: store) >> (64 - Self.bits) == code
        else { return nil }
        return row
    }

    /// The hashes that several features share, among those with equal upper halves.
    private func derivedGroups(in store: FeatureStore) -> [UInt64] {
        if let known = groups.derived.withLock({ $0 }) { return known }
        var found: Set<UInt64> = []
        for prefix in repeated.withValues({ repeatedLater.union($0) }) {
            for row in candidates(prefix).lazy.map(store.row(ofInput:)) where !store.isRemoved(row) && isSeen(row) {
                let code = Self.hash(of: row, in: store) >> (64 - Self.bits)
                if group(code, in: store).rows.count > 1 { found.insert(code) }
            }
        }
        let starts = found.sorted()
        groups.derived.withLock { $0 = starts }
        return starts
    }

    private func isRepeated(_ prefix: UInt32) -> Bool {
        if repeatedLater.contains(prefix) { return true }
        return repeated.withValues { repeated in
            let index = repeated.partitionIndex { $0 < prefix }
            return index < repeated.count && repeated[index] == prefix
        }
    }

    private func group(_ code: UInt64, in store: FeatureStore) -> Groups.Group {
        let prefix = UInt32(truncatingIfNeeded: code >> (Self.bits - 32))
        let isRepeated = isRepeated(prefix)
        if isRepeated, let known = groups.known.withLock({ $0[code] }) { return known }
        let found = candidates(prefix).map { (row: store.row(ofInput: $0), number: $0) }.filter {
            !store.isRemoved($0.row) && isSeen($0.row)
                && Self.hash(of: $0.row, in: store) >> (64 - Self.bits) == code
        }
        var rows = found.map(\.row)
        if rows.count > 1 {
            let ranked = found.map { (store.featureIdentifier($0.row)?.description ?? "", $0.number) }.sorted {
                $0 < $1
            }
            rows = ranked.map { store.row(ofInput: $0.1) }
        }
        let ranks = Dictionary(
            rows.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let group = Groups.Group(rows: rows, ranks: ranks)
        if isRepeated { groups.known.withLock { $0[code] = group } }
        return group
    }

    /// Those of some features that the readers may see.
    package func seen(among rows: [Int]) -> [Int] { rows.filter(isSeen) }

    private func isSeen(_ row: Int) -> Bool { counts?(row) ?? true }

    /// Numbers in the input of features whose hashes have an upper half. Some may have been removed or have another id now.
    private func candidates(_ prefix: UInt32) -> [Int] {
        Self.find(prefix, in: identified) + Self.find(prefix, in: anonymous) + (added[prefix] ?? [])
    }

    private static func find(_ prefix: UInt32, in entries: SectionValues<UInt64>) -> [Int] {
        let first = UInt64(prefix) << 32
        return entries.withValues { entries in
            entries[IdentifierIndex.firstEntry(of: first, in: entries)...].prefix {
                $0 >> 32 == UInt64(prefix)
            }
            .map { Int(UInt32(truncatingIfNeeded: $0)) }
        }
    }

    private static func first(_ prefix: UInt32, in entries: SectionValues<UInt64>) -> Int? {
        entries.withValues { entries in
            let index = IdentifierIndex.firstEntry(of: UInt64(prefix) << 32, in: entries)
            guard index < entries.count, entries[index] >> 32 == UInt64(prefix) else { return nil }
            return Int(UInt32(truncatingIfNeeded: entries[index]))
        }
    }

    /// Calls `body` with the upper halves that occur more than once in two sorted lists.
    private static func visitRepeated(_ a: [UInt64], _ b: [UInt64], _ body: (UInt32) -> Void) {
        var (i, j) = (0, 0)
        var last: UInt64?
        while i < a.count || j < b.count {
            let takesFirst = j == b.count || i < a.count && a[i] <= b[j]
            let prefix = (takesFirst ? a[i] : b[j]) >> 32
            if prefix == last { body(UInt32(truncatingIfNeeded: prefix)) }
            last = prefix
            if takesFirst { i += 1 } else { j += 1 }
        }
    }

    /// The hash of a feature's id, or of its text if it has none.
    package static func hash(of row: Int, in store: FeatureStore) -> UInt64 {
        if let hash = store.identifierHash(row, key) { return hash }
        var text = ByteWriter(capacity: 512)
        store.write(row, into: &text, selection: nil, precision: nil)
        return text.withBytes { key.hash($0.bytes) }
    }
}
