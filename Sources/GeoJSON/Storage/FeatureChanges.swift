// SPDX-License-Identifier: MIT

/// The delta of a store: features that differ from its base, were removed, or were added after it.
final class FeatureChanges: Sendable {
    /// A feature's location: a row of one of `stores`, or none if it was removed.
    struct Location: Sendable, BitwiseCopyable {
        let store: UInt32
        let row: UInt32

        static let removed = Location(store: .max, row: 0)

        var isRemoved: Bool { store == .max }
    }

    let base: FeatureStore
    let locations: LocationTable
    /// Plain stores, without a delta.
    let stores: StoreList
    /// The number of features in the stores, including those that were replaced since.
    let rowCount: Int
    /// The number of removed features.
    let removedCount: Int

    init(base: FeatureStore, locations: LocationTable, stores: StoreList, rowCount: Int, removedCount: Int) {
        self.base = base
        self.locations = locations
        self.stores = stores
        self.rowCount = rowCount
        self.removedCount = removedCount
    }

    var memoryBytes: Int {
        // Dictionaries keep about a third of their capacity free.
        locations.count * (4 + MemoryLayout<Location>.stride) * 3 / 2 + stores.all.reduce(0) { $0 + $1.memoryBytes }
    }

    /// The store and row of a feature; nil if it is the base's.
    @inline(__always) func location(of index: Int) -> Location? {
        guard let number = UInt32(exactly: index) else { return nil }
        return locations[number]
    }

    /// The same changes gathered in one store, if most rows of the stores have been replaced.
    ///
    /// Otherwise repeated updates of the same features would keep all their old versions. Copies the current
    /// rows, amortized O(1) for each row added since the last time.
    func gatheredIfSparse() -> FeatureChanges {
        guard rowCount > 2 * (locations.count - removedCount) + Self.sparseRows else { return self }
        let living = locations.all.filter { !$0.value.isRemoved }.sorted { $0.key < $1.key }
        let slices = living.map { _, location in
            FeatureSlice(store: stores[location.store], rows: Int(location.row)..<Int(location.row) + 1)
        }
        var locations = locations
        for (row, (key, _)) in living.enumerated() {
            locations.update(key, to: Location(store: 0, row: UInt32(truncatingIfNeeded: row)))
        }
        return FeatureChanges(
            base: base, locations: locations, stores: StoreList([FeatureStore.joining(slices)]), rowCount: slices.count,
            removedCount: removedCount)
    }

    private static let sparseRows = 1024

    /// The changed rows in a range, ascending. O(min(rows, changes)) plus sorting.
    func changedRows(in rows: Range<Int>) -> [Int] {
        if rows.count < locations.count { return rows.filter { location(of: $0) != nil } }
        return locations.all.lazy.map { Int($0.key) }.filter(rows.contains).sorted()
    }
}

extension FeatureStore {
    /// Whether the store has no delta.
    public var isPlain: Bool { changes == nil }

    /// Whether a row's feature differs from the base's, was removed, or was added later.
    public func isChanged(_ index: Int) -> Bool { changes?.location(of: index) != nil }

    /// Whether a row's feature was removed.
    public func isRemoved(_ index: Int) -> Bool { changes?.location(of: index)?.isRemoved ?? false }

    /// The plain store of this lineage.
    public var plainBase: FeatureStore { changes?.base ?? self }

    /// The rows that differ from `plainBase`, were removed, or were added later; ascending.
    public var changedRows: [UInt32] { changes?.locations.rows ?? [] }

    /// The number of rows that differ from the plain base or were removed.
    public var changeCount: Int { changes?.locations.count ?? 0 }

    /// The number of rows whose features were removed.
    public var removedCount: Int { changes?.removedCount ?? 0 }

    /// A store with some features replaced or removed and others appended. This store does not change.
    ///
    /// The row of a removed feature stays empty, so that other features keep their rows.
    ///
    /// - Parameters:
    ///   - replacements: rows of this store, each at most once.
    ///   - additions: rows of `store` to append, in this order.
    ///   - store: a plain store.
    /// - Complexity: O(the changes), plus one reference for about every hundred changes since the plain
    ///   store. Occasionally their features are copied.
    public func changing(
        _ replacements: [FeatureReplacement], adding additions: [Int], from store: FeatureStore
    ) -> FeatureStore {
        var locations = changes?.locations ?? LocationTable()
        var stores = changes?.stores ?? StoreList()
        let number = UInt32(truncatingIfNeeded: stores.count)
        stores.append(store)
        func location(_ row: Int) -> FeatureChanges.Location {
            FeatureChanges.Location(store: number, row: UInt32(truncatingIfNeeded: row))
        }
        var removedCount = changes?.removedCount ?? 0
        for replacement in replacements {
            let new = replacement.newRow.map(location) ?? .removed
            let old = locations.update(UInt32(truncatingIfNeeded: replacement.row), to: new)
            removedCount += (new.isRemoved ? 1 : 0) - (old?.isRemoved == true ? 1 : 0)
        }
        for (offset, row) in additions.enumerated() {
            locations.update(UInt32(truncatingIfNeeded: count + offset), to: location(row))
        }
        let changed = FeatureChanges(
            base: changes?.base ?? self, locations: locations, stores: stores,
            rowCount: (changes?.rowCount ?? 0) + store.count, removedCount: removedCount)
        return FeatureStore(changes: changed.gatheredIfSparse(), count: count + additions.count)
    }

    /// The rows with features, ascending; nil if all rows have one.
    public var livingRows: [UInt32]? {
        guard let changes, changes.removedCount > 0 else { return nil }
        return (0..<UInt32(truncatingIfNeeded: count)).filter { changes.locations[$0]?.isRemoved != true }
    }

    /// The same features in a plain store, without gaps. O(their bytes).
    ///
    /// - Parameter spill: decides when the text goes to a file; nil for never.
    public func plain(spill: TextSpill? = nil) -> FeatureStore {
        isPlain ? self : FeatureStore.joining([FeatureSlice(store: self, rows: 0..<count)], spill: spill)
    }

    /// This store's features as a delta beside another plain store.
    ///
    /// - Parameters:
    ///   - base: the features of an earlier store of this lineage, row for row.
    ///   - earlier: that store.
    /// - Complexity: O(all changes). No feature is copied.
    public func folded(onto base: FeatureStore, since earlier: FeatureStore) -> FeatureStore {
        guard let changes else { return base }
        // What was changed later is in stores that were appended later, unless all have been gathered meanwhile.
        let known = earlier.changes.map { changes.stores.begins(with: $0.stores) ? $0.stores.count : 0 } ?? 0
        let stores = StoreList(Array(changes.stores.all.dropFirst(known)))
        let locations = changes.locations.mapped { location in
            if location.isRemoved { return location }
            guard let store = UInt32(exactly: Int(location.store) - known) else { return nil }
            return FeatureChanges.Location(store: store, row: location.row)
        }
        guard locations.count > 0 else { return base }
        let folded = FeatureChanges(
            base: base, locations: locations, stores: stores, rowCount: stores.all.reduce(0) { $0 + $1.count },
            removedCount: changes.removedCount)
        return FeatureStore(changes: folded, count: count)
    }

    /// Some rows as slices of plain stores, without removed features.
    func plainSlices(_ rows: Range<Int>) -> [FeatureSlice] {
        guard let changes else { return [FeatureSlice(store: self, rows: rows)] }
        var slices: [FeatureSlice] = []
        var start = rows.lowerBound
        for changed in changes.changedRows(in: rows) {
            guard let change = changes.location(of: changed) else { continue }
            if start < changed { slices.append(FeatureSlice(store: changes.base, rows: start..<changed)) }
            if !change.isRemoved {
                let row = Int(change.row)
                slices.append(FeatureSlice(store: changes.stores[change.store], rows: row..<row + 1))
            }
            start = changed + 1
        }
        if start < rows.upperBound {
            slices.append(FeatureSlice(store: changes.base, rows: start..<rows.upperBound))
        }
        return slices.filter { !$0.rows.isEmpty }
    }
}

/// The replacement of a store's row.
public struct FeatureReplacement: Sendable {
    public let row: Int
    /// The row in the store of new features; nil to remove the feature.
    public let newRow: Int?

    public init(row: Int, newRow: Int?) {
        self.row = row
        self.newRow = newRow
    }
}

/// The locations of changed features by row, in parts that copies share until one of them writes. A copy costs one
/// reference per part, and a write at most the copy of one part.
struct LocationTable: Sendable {
    typealias Location = FeatureChanges.Location

    private var parts = [[UInt32: Location]](repeating: [:], count: partCount)
    private(set) var count = 0

    /// Rows that follow one another are in different parts.
    private static let partCount = 64

    @inline(__always) private static func part(of row: UInt32) -> Int { Int(row) & (partCount - 1) }

    @inline(__always) subscript(row: UInt32) -> Location? { parts[Self.part(of: row)][row] }

    /// Sets a row's location, and returns its former one.
    @discardableResult mutating func update(_ row: UInt32, to location: Location) -> Location? {
        let old = parts[Self.part(of: row)].updateValue(location, forKey: row)
        if old == nil { count += 1 }
        return old
    }

    /// The same rows with the locations that a function makes of theirs, without those for which it makes none.
    func mapped(_ location: (Location) -> Location?) -> LocationTable {
        var mapped = LocationTable()
        for (number, part) in parts.enumerated() {
            mapped.parts[number] = part.compactMapValues(location)
            mapped.count += mapped.parts[number].count
        }
        return mapped
    }

    /// All rows and their locations, in no particular order.
    var all: some Sequence<(key: UInt32, value: Location)> { parts.lazy.joined() }

    /// The rows, ascending.
    var rows: [UInt32] { all.map(\.key).sorted() }
}

/// Stores by number, in groups that copies share. Copying the list costs one reference per group, and appending at most
/// the copy of a group's references.
struct StoreList: Sendable {
    private var groups: [[FeatureStore]] = []
    private(set) var count = 0

    private static let groupCount = 64

    init(_ stores: [FeatureStore] = []) { for store in stores { append(store) } }

    /// - Precondition: `number < count`.
    @inline(__always) subscript(number: UInt32) -> FeatureStore {
        groups[Int(number) / Self.groupCount][Int(number) % Self.groupCount]
    }

    mutating func append(_ store: FeatureStore) {
        if count % Self.groupCount == 0 {
            groups.append([store])
        } else {
            groups[groups.count - 1].append(store)
        }
        count += 1
    }

    /// All stores, by number.
    var all: some Sequence<FeatureStore> { groups.lazy.joined() }

    /// Whether stores were only appended to another list to make this one.
    func begins(with other: StoreList) -> Bool {
        guard other.count > 0, other.count <= count else { return other.count == 0 }
        let last = UInt32(truncatingIfNeeded: other.count - 1)
        return self[last] === other[last]
    }
}
