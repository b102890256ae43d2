// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import SourceStorage
import SystemSupport

/// Which features are where once an update is done: an updated one keeps its place, a new one goes last, a
/// removed one leaves.
///
/// Features with the same id, such as the positions of a MultiPoint, are updated and removed together: the first ones
/// take the new contents, and those that are too many go. Of equal ids among the new the last feature counts.
package struct UpdatePlan {
    package private(set) var inserted = 0
    package private(set) var updated = 0
    package private(set) var removed = 0
    package private(set) var missing = 0
    /// By place in the old store: the new feature that takes it, or nil for none.
    package private(set) var changes: [Int: Int?] = [:]
    /// New features that go last, by their place among the new.
    package private(set) var additions: [Int] = []

    /// - Parameters:
    ///   - upserts: the new features' ids by place; of equal ones the last counts.
    ///   - groups: which of the new rows are one feature.
    ///   - isLoaded: whether the source loads a new feature; one that it does not load leaves its place.
    ///   - removals: ids of features that go, none of them among `upserts`.
    ///   - countsRows: whether each row that goes counts as removed, rather than each id.
    ///   - places: where in the old store the features of an id are, ascending.
    package init(
        upserts: [FeatureIdentifier], groups: RowGroups = RowGroups(), isLoaded: (Int) -> Bool,
        removals: [FeatureIdentifier], countsRows: Bool = true, places: (FeatureIdentifier) -> [Int]
    ) {
        for (identifier, place) in Self.latest(upserts) {
            upsert(groups.rows(of: place).filter(isLoaded), over: places(identifier))
        }
        var seen: Set<FeatureIdentifier> = []
        for identifier in removals where seen.insert(identifier).inserted {
            let old = places(identifier)
            for place in old { changes[place] = .some(nil) }
            if old.isEmpty { missing += 1 } else { removed += countsRows ? old.count : 1 }
        }
    }

    /// Takes features away by their places.
    package init(removing places: [Int]) {
        for place in places { changes[place] = .some(nil) }
        removed = places.count
    }

    /// Changes that are known already, uncounted.
    package init(changes: [Int: Int?], additions: [Int]) {
        (self.changes, self.additions) = (changes, additions)
    }

    private mutating func upsert(_ new: [Int], over old: [Int]) {
        for place in old { changes[place] = .some(nil) }
        for (place, row) in zip(old, new) { changes[place] = .some(row) }
        additions += new.dropFirst(old.count)
        switch (new.isEmpty, old.isEmpty) {
        case (false, false): updated += 1
        case (false, true): inserted += 1
        case (true, false): removed += 1
        case (true, true): break
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
    package func slices(old: FeatureStore, new: FeatureStore) -> [FeatureSlice] {
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
    /// nil if that was built as a whole, so that places are others.
    package func places(in old: Revision, to new: Revision) -> [Int]? {
        new.isPlain ? nil : Array(changes.keys) + Array(old.store.count..<new.store.count)
    }
}
