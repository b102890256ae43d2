// SPDX-License-Identifier: MIT
import GeoJSON

/// The rows of features after an update: an updated feature keeps its row, a new one is appended, a
/// removed one leaves a gap.
///
/// Features with the same id, such as the positions of a MultiPoint, are updated and removed together: the new content
/// takes the row of the first one and those that follow it, and the surplus ones are removed. Of equal ids among the
/// new features of a step the last one is used. A feature that is removed and put in again is appended.
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

    /// Whether nothing changes.
    var isEmpty: Bool { changes.isEmpty && additions.isEmpty }

    /// Whether rows have to be renumbered, so that everything must be clustered again.
    package var renumbersRows: Bool { !insertions.isEmpty }

    /// What all steps together do: the features to put in, by their first rows among the new ones, in the order in
    /// which new ones are appended, and the ids to remove before that.
    package private(set) var outcome: (rows: [Int], removals: [FeatureIdentifier]) = ([], [])

    /// Changes of which each follows the one before.
    package struct Step: Sendable {
        /// Ids of features to remove.
        let removals: [FeatureIdentifier]
        /// Rows of new features, put in after that.
        let rows: Range<Int>
    }

    /// What becomes of the features with an id.
    private struct Trace {
        /// Their rows in the old store.
        let old: [Int]
        /// Whether a feature has been in the first of these rows all the time.
        var keepsRows: Bool
        var exists: Bool
        /// The first row of the new feature; nil: none, or still the old one.
        var new: Int?
        /// The number of its insertion.
        var number = 0

        init(_ old: [Int]) {
            self.old = old
            exists = !old.isEmpty
            keepsRows = exists
        }

        mutating func remove() { (exists, keepsRows, new) = (false, false, nil) }
    }

    /// - Parameters:
    ///   - steps: what to do, in order.
    ///   - identifiers: the new features' ids by row.
    ///   - groups: which of the new rows belong to one feature.
    ///   - isLoaded: whether the source loads a new feature. One that it does not load is removed.
    ///   - isIgnored: whether a new feature changes nothing.
    ///   - countsRows: whether to count removed rows rather than removed ids.
    ///   - rows: the rows of an id's features in the old store, ascending.
    package init(
        _ steps: [Step], identifiers: [FeatureIdentifier], groups: RowGroups = RowGroups(), isLoaded: (Int) -> Bool,
        isIgnored: (Int) -> Bool = { _ in false }, countsRows: Bool = true, rows: (FeatureIdentifier) -> [Int]
    ) {
        var traces: [FeatureIdentifier: Trace] = [:]
        var order: [FeatureIdentifier] = []
        func trace(_ identifier: FeatureIdentifier) -> Trace {
            if let trace = traces[identifier] { return trace }
            order.append(identifier)
            return Trace(rows(identifier))
        }
        var insertions = 0
        for step in steps {
            var seen: Set<FeatureIdentifier> = []
            for identifier in step.removals where seen.insert(identifier).inserted {
                var trace = trace(identifier)
                if trace.exists {
                    removed += countsRows && trace.new == nil ? trace.old.count : 1
                    trace.remove()
                } else {
                    missing += 1
                }
                traces[identifier] = trace
            }
            for (identifier, row) in Self.latest(step.rows, identifiers, isIgnored) {
                var trace = trace(identifier)
                let group = groups.rows(of: row)
                switch (group.contains(where: isLoaded), trace.exists) {
                case (true, let exists):
                    if exists {
                        updated += 1
                    } else {
                        inserted += 1
                        insertions += 1
                        trace.number = insertions
                    }
                    (trace.exists, trace.new) = (true, group.lowerBound)
                case (false, true):
                    removed += 1
                    trace.remove()
                case (false, false): break
                }
                traces[identifier] = trace
            }
        }
        var appended: [(number: Int, row: Int)] = []
        for identifier in order {
            guard let trace = traces[identifier] else { continue }
            if trace.keepsRows {
                guard let row = trace.new else { continue }
                put(groups.rows(of: row).filter(isLoaded), over: trace.old)
                outcome.rows.append(row)
                continue
            }
            for row in trace.old { changes[row] = .some(nil) }
            if !trace.old.isEmpty { outcome.removals.append(identifier) }
            if let row = trace.new { appended.append((trace.number, row)) }
        }
        for (_, row) in appended.sorted(by: { $0.number < $1.number }) {
            additions += groups.rows(of: row).filter(isLoaded)
            outcome.rows.append(row)
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

    private mutating func put(_ new: [Int], over old: [Int]) {
        for row in old { changes[row] = .some(nil) }
        // The positions of a feature stay together, at the feature's position in the order.
        let room = Self.consecutive(old)
        for (row, newRow) in zip(room, new) { changes[row] = .some(newRow) }
        let rest = new.dropFirst(room.count)
        if let last = room.last, !rest.isEmpty { insertions[last] = rest }
    }

    /// The first rows that follow one another without a gap.
    private static func consecutive(_ rows: [Int]) -> Range<Int> {
        guard let first = rows.first else { return 0..<0 }
        let end = rows.indices.first { rows[$0] != first + $0 } ?? rows.count
        return first..<first + end
    }

    /// The last feature of each id, in the order of the ids' first occurrence.
    private static func latest(
        _ rows: Range<Int>, _ identifiers: [FeatureIdentifier], _ isIgnored: (Int) -> Bool
    ) -> [(FeatureIdentifier, Int)] {
        var places: [FeatureIdentifier: Int] = [:]
        var latest: [(FeatureIdentifier, Int)] = []
        latest.reserveCapacity(rows.count)
        for row in rows where !isIgnored(row) {
            let identifier = identifiers[row]
            if let index = places[identifier] {
                latest[index].1 = row
            } else {
                places[identifier] = latest.count
                latest.append((identifier, row))
            }
        }
        return latest
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
