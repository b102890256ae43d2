// SPDX-License-Identifier: MIT
import GeoJSON

/// The rows of features after an update: an updated feature keeps its row, a new one is appended, a
/// removed one leaves a gap.
///
/// Features with the same id, such as the positions of a MultiPoint, are updated and removed together: the new content
/// takes the row of the first one and those that follow it, and the surplus ones are removed. Of equal ids among the
/// new features the last one is used.
package struct UpdatePlan {
    package private(set) var inserted = 0
    package private(set) var updated = 0
    package private(set) var removed = 0
    package private(set) var missing = 0
    /// By row of the old store: the new feature that replaces it, or nil if it is removed.
    package private(set) var changes: [Int: Int?] = [:]
    /// New features to append, by their row among the new features.
    package private(set) var additions: [Int] = []
    /// By row of the old store: new rows that follow it, since they belong to the feature that takes this row.
    private var insertions: [Int: ArraySlice<Int>] = [:]

    /// Whether rows have to be renumbered, so that everything must be clustered again.
    package var renumbersRows: Bool { !insertions.isEmpty }

    /// - Parameters:
    ///   - upserts: the new features' ids by row. Of equal ids the last one is used.
    ///   - groups: which of the new rows belong to one feature.
    ///   - isLoaded: whether the source loads a new feature. One that it does not load is removed.
    ///   - removals: ids of features to remove, none of them among `upserts`.
    ///   - countsRows: whether to count removed rows rather than removed ids.
    ///   - rows: the rows of an id's features in the old store, ascending.
    package init(
        upserts: [FeatureIdentifier], groups: RowGroups = RowGroups(), isLoaded: (Int) -> Bool,
        removals: [FeatureIdentifier], countsRows: Bool = true, rows: (FeatureIdentifier) -> [Int]
    ) {
        for (identifier, row) in Self.latest(upserts) {
            upsert(groups.rows(of: row).filter(isLoaded), over: rows(identifier))
        }
        var seen: Set<FeatureIdentifier> = []
        for identifier in removals where seen.insert(identifier).inserted {
            let old = rows(identifier)
            for row in old { changes[row] = .some(nil) }
            if old.isEmpty { missing += 1 } else { removed += countsRows ? old.count : 1 }
        }
    }

    /// Removes features by their rows.
    package init(removing rows: [Int]) {
        for row in rows { changes[row] = .some(nil) }
        removed = rows.count
    }

    /// Makes a plan from known changes, without counts.
    package init(changes: [Int: Int?], additions: [Int]) {
        (self.changes, self.additions) = (changes, additions)
    }

    private mutating func upsert(_ new: [Int], over old: [Int]) {
        for row in old { changes[row] = .some(nil) }
        // The positions of a feature stay together, at the feature's position in the order.
        let room = Self.consecutive(old)
        for (row, newRow) in zip(room, new) { changes[row] = .some(newRow) }
        let rest = new.dropFirst(room.count)
        if let last = room.last, !rest.isEmpty { insertions[last] = rest } else { additions += rest }
        switch (new.isEmpty, old.isEmpty) {
        case (false, false): updated += 1
        case (false, true): inserted += 1
        case (true, false): removed += 1
        case (true, true): break
        }
    }

    /// The first rows that follow one another without a gap.
    private static func consecutive(_ rows: [Int]) -> Range<Int> {
        guard let first = rows.first else { return 0..<0 }
        let end = rows.indices.first { rows[$0] != first + $0 } ?? rows.count
        return first..<first + end
    }

    /// The last feature of each id, in the order of the ids' first occurrence.
    private static func latest(_ upserts: [FeatureIdentifier]) -> [(FeatureIdentifier, Int)] {
        var latest: [FeatureIdentifier: Int] = [:]
        for (row, identifier) in upserts.enumerated() { latest[identifier] = row }
        var seen: Set<FeatureIdentifier> = []
        return upserts.compactMap { identifier in
            guard seen.insert(identifier).inserted, let row = latest[identifier] else { return nil }
            return (identifier, row)
        }
    }

    /// The features after the update, as slices of the two stores.
    package func slices(old: FeatureStore, new: FeatureStore) -> [FeatureSlice] {
        var slices: [FeatureSlice] = []
        var start = 0
        for row in changes.keys.sorted() {
            if start < row { slices.append(FeatureSlice(store: old, rows: start..<row)) }
            let replacement = changes[row].flatMap { $0 }.map { [$0] } ?? []
            for newRow in replacement + (insertions[row] ?? []) {
                slices.append(FeatureSlice(store: new, rows: newRow..<newRow + 1))
            }
            start = row + 1
        }
        if start < old.count { slices.append(FeatureSlice(store: old, rows: start..<old.count)) }
        for row in additions { slices.append(FeatureSlice(store: new, rows: row..<row + 1)) }
        return slices
    }
}
