// SPDX-License-Identifier: MIT
import GeoJSON

/// Which features are where once an update is done: an updated one keeps its place, a new one goes last, a
/// removed one leaves.
///
/// Where several features have an id that is updated, the first takes the new contents and the others go;
/// where one is removed, all go.
struct UpdatePlan {
    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var removed = 0
    private(set) var missing = 0
    /// By place in the old store: the new feature that takes it, or nil for none.
    private(set) var changes: [Int: Int?] = [:]
    /// New features that go last, by their place among the new.
    private(set) var additions: [Int] = []

    /// - Parameters:
    ///   - upserts: the new features' ids by place; of equal ones the last counts.
    ///   - isLoaded: whether the source loads a new feature; one that it does not load leaves its place.
    ///   - removals: ids of features that go, none of them among `upserts`.
    ///   - places: where in the old store the features of an id are, ascending.
    init(
        upserts: [FeatureIdentifier], isLoaded: (Int) -> Bool, removals: [FeatureIdentifier],
        places: (FeatureIdentifier) -> [Int]
    ) {
        for (identifier, place) in Self.latest(upserts) {
            upsert(isLoaded(place) ? place : nil, over: places(identifier))
        }
        var seen: Set<FeatureIdentifier> = []
        for identifier in removals where seen.insert(identifier).inserted {
            let old = places(identifier)
            for place in old { changes[place] = .some(nil) }
            if old.isEmpty { missing += 1 } else { removed += old.count }
        }
    }

    /// Takes features away by their places.
    init(removing places: [Int]) {
        for place in places { changes[place] = .some(nil) }
        removed = places.count
    }

    /// Changes that are known already, uncounted.
    init(changes: [Int: Int?], additions: [Int]) {
        (self.changes, self.additions) = (changes, additions)
    }

    private mutating func upsert(_ new: Int?, over old: [Int]) {
        for place in old { changes[place] = .some(nil) }
        switch (new, old.first) {
        case (let new?, let first?):
            changes[first] = .some(new)
            updated += 1
        case (let new?, nil):
            additions.append(new)
            inserted += 1
        case (nil, _?): removed += 1
        case (nil, nil): break
        }
    }

    /// The last of each id, in the order in which the ids first come.
    private static func latest(_ upserts: [FeatureIdentifier]) -> [(FeatureIdentifier, Int)] {
        var latest: [FeatureIdentifier: Int] = [:]
        for (place, identifier) in upserts.enumerated() { latest[identifier] = place }
        var seen: Set<FeatureIdentifier> = []
        return upserts.compactMap { identifier in
            guard seen.insert(identifier).inserted, let place = latest[identifier] else { return nil }
            return (identifier, place)
        }
    }

    /// The features that there are afterwards, as runs of the two stores.
    func slices(old: FeatureStore, new: FeatureStore) -> [FeatureSlice] {
        var slices: [FeatureSlice] = []
        var start = 0
        for place in changes.keys.sorted() {
            if start < place { slices.append(FeatureSlice(store: old, rows: start..<place)) }
            if case .some(.some(let row)) = changes[place] {
                slices.append(FeatureSlice(store: new, rows: row..<row + 1))
            }
            start = place + 1
        }
        if start < old.count { slices.append(FeatureSlice(store: old, rows: start..<old.count)) }
        for row in additions { slices.append(FeatureSlice(store: new, rows: row..<row + 1)) }
        return slices
    }

    /// The places that the update changed or added on the way from a revision to one with changes beside it;
    /// nil where that was built as a whole, so that places are others.
    func places(in old: Revision, to new: Revision) -> [Int]? {
        new.isPlain ? nil : Array(changes.keys) + Array(old.store.count..<new.store.count)
    }
}
