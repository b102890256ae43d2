// SPDX-License-Identifier: MIT

/// Features of a store that are others than its base has at their places, or are gone, or come after it.
final class FeatureChanges: Sendable {
    /// Where a feature is now: a row of one of `stores`; nowhere where it is gone.
    struct Place: Sendable, BitwiseCopyable {
        let store: UInt32
        let row: UInt32

        static let gone = Place(store: .max, row: 0)
    }

    let base: FeatureStore
    let places: [UInt32: Place]
    /// Without changes themselves.
    let stores: [FeatureStore]
    /// How many features the stores have, those included that are no place's any more.
    let rowCount: Int
    /// How many features are gone.
    let goneCount: Int

    init(
        base: FeatureStore, places: [UInt32: Place], stores: [FeatureStore], rowCount: Int, goneCount: Int
    ) {
        self.base = base
        self.places = places
        self.stores = stores
        self.rowCount = rowCount
        self.goneCount = goneCount
    }

    var memoryBytes: Int {
        // Dictionaries keep about a third of their room free.
        places.count * (4 + MemoryLayout<Place>.stride) * 3 / 2 + stores.reduce(0) { $0 + $1.memoryBytes }
    }

    /// The store and row that have a feature; nil where it is as in the base.
    @inline(__always) func place(of index: Int) -> Place? {
        guard let number = UInt32(exactly: index) else { return nil }
        return places[number]
    }

    /// The same changes in one store, once most rows of the stores are no place's any more.
    ///
    /// Updates of the same features would otherwise keep all that these ever were. Copies what is left, O(1) a
    /// row that has come since the last time.
    func gatheredIfSparse() -> FeatureChanges {
        guard rowCount > 2 * (places.count - goneCount) + Self.sparseRows else { return self }
        let living = places.filter { $0.value.store != .max }.sorted { $0.key < $1.key }
        let slices = living.map { _, place in
            FeatureSlice(store: stores[Int(place.store)], rows: Int(place.row)..<Int(place.row) + 1)
        }
        var places = places
        for (row, (place, _)) in living.enumerated() {
            places[place] = Place(store: 0, row: UInt32(truncatingIfNeeded: row))
        }
        return FeatureChanges(
            base: base, places: places, stores: [FeatureStore.joining(slices)], rowCount: slices.count,
            goneCount: goneCount)
    }

    private static let sparseRows = 1024

    /// The places among some rows that changed, ascending. O(the fewer of rows and changes), and sorting.
    func changedPlaces(in rows: Range<Int>) -> [Int] {
        if rows.count < places.count { return rows.filter { place(of: $0) != nil } }
        return places.keys.lazy.map { Int($0) }.filter(rows.contains).sorted()
    }
}

/// What is to be put at a place of a store.
public struct FeatureReplacement: Sendable {
    public let place: Int
    /// The row of the store with the new features; nil takes the feature away.
    public let row: Int?

    public init(place: Int, row: Int?) {
        self.place = place
        self.row = row
    }
}

extension FeatureStore {
    /// Whether all features lie in this store itself, one behind the other.
    public var isPlain: Bool { changes == nil }

    /// Whether a place's feature is another than the first of its lineage there, or is gone, or came later.
    public func isChanged(_ index: Int) -> Bool { changes?.place(of: index) != nil }

    /// Whether a place's feature was taken away.
    public func isGone(_ index: Int) -> Bool { changes?.place(of: index)?.store == .max }

    /// The store without changes whose lineage this is.
    public var plainBase: FeatureStore { changes?.base ?? self }

    /// The places whose features are others than in `plainBase`, or gone, or come later; ascending.
    public var changedPlaces: [UInt32] { changes?.places.keys.sorted() ?? [] }

    /// How many features are others than the plain store below has, or are gone.
    public var changeCount: Int { changes?.places.count ?? 0 }

    /// A store with some features replaced or taken away and others put behind; this one stays as it is.
    ///
    /// A place whose feature is taken away stays, empty, so that the others keep theirs.
    ///
    /// - Parameters:
    ///   - replacements: places of this store, each once.
    ///   - additions: rows of `store` that come last, in this order.
    ///   - store: a plain store.
    /// - Complexity: O(all changes since the plain store); now and then their features are copied.
    public func changing(
        _ replacements: [FeatureReplacement], adding additions: [Int], from store: FeatureStore
    ) -> FeatureStore {
        var places = changes?.places ?? [:]
        let number = UInt32(truncatingIfNeeded: changes?.stores.count ?? 0)
        func place(_ row: Int) -> FeatureChanges.Place {
            FeatureChanges.Place(store: number, row: UInt32(truncatingIfNeeded: row))
        }
        var goneCount = changes?.goneCount ?? 0
        for replacement in replacements {
            let new = replacement.row.map(place) ?? .gone
            let old = places.updateValue(new, forKey: UInt32(truncatingIfNeeded: replacement.place))
            goneCount += (new.store == .max ? 1 : 0) - (old?.store == .max ? 1 : 0)
        }
        for (position, row) in additions.enumerated() {
            places[UInt32(truncatingIfNeeded: count + position)] = place(row)
        }
        let changed = FeatureChanges(
            base: changes?.base ?? self, places: places, stores: (changes?.stores ?? []) + [store],
            rowCount: (changes?.rowCount ?? 0) + store.count, goneCount: goneCount)
        return FeatureStore(changes: changed.gatheredIfSparse(), count: count + additions.count)
    }

    /// The places of the features that there are, ascending; nil where that is all places.
    public var livingPlaces: [UInt32]? {
        guard let changes, changes.goneCount > 0 else { return nil }
        return (0..<UInt32(truncatingIfNeeded: count)).filter { changes.places[$0]?.store != .max }
    }

    /// The same features in a store without changes, one behind the other without gaps. O(their bytes).
    ///
    /// - Parameter spill: when the text goes to a file; nil: never.
    public func plain(spill: TextSpill? = nil) -> FeatureStore {
        isPlain ? self : FeatureStore.joining([FeatureSlice(store: self, rows: 0..<count)], spill: spill)
    }

    /// Some rows as runs of plain stores; those that are gone left out.
    func plainSlices(_ rows: Range<Int>) -> [FeatureSlice] {
        guard let changes else { return [FeatureSlice(store: self, rows: rows)] }
        var slices: [FeatureSlice] = []
        var start = rows.lowerBound
        for place in changes.changedPlaces(in: rows) {
            guard let change = changes.place(of: place) else { continue }
            if start < place { slices.append(FeatureSlice(store: changes.base, rows: start..<place)) }
            if change.store != .max {
                let row = Int(change.row)
                slices.append(FeatureSlice(store: changes.stores[Int(change.store)], rows: row..<row + 1))
            }
            start = place + 1
        }
        if start < rows.upperBound {
            slices.append(FeatureSlice(store: changes.base, rows: start..<rows.upperBound))
        }
        return slices.filter { !$0.rows.isEmpty }
    }
}
