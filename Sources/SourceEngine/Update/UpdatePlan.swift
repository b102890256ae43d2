// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import SystemSupport

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
    /// Rows of the old store with the new features that replace them, ascending.
    package private(set) var changes: [FeatureReplacement] = []
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
        let identifier: FeatureIdentifier
        /// Their rows in the old store.
        let old: IdentifierIndex.Rows
        /// Whether a feature has been in the first of these rows all the time.
        var keepsRows: Bool
        var exists: Bool
        /// The first row of the new feature; nil: none, or still the old one.
        var new: Int?
        /// The number of its insertion.
        var insertion = 0
        /// The last step that removes them.
        var removal: Int?
        /// The last step that puts one in, and the place among the ids that it puts in.
        var upsert: (step: Int, place: Int)?

        init(_ identifier: FeatureIdentifier, _ old: IdentifierIndex.Rows) {
            (self.identifier, self.old) = (identifier, old)
            exists = !old.isEmpty
            keepsRows = exists
        }

        mutating func remove() { (exists, keepsRows, new) = (false, false, nil) }
    }

    /// What becomes of the features of all ids, in the order in which these occur.
    private struct Traces {
        var all: [Trace] = []
        /// By their first rows in the old store, which are compared faster than ids.
        private var known: [Int: Int] = [:]
        /// By the ids of those that are new.
        private var new: [FeatureIdentifier: Int] = [:]
        private let identifiers: [FeatureIdentifier]
        /// By new row.
        private let found: [IdentifierIndex.Rows]

        init(_ identifiers: [FeatureIdentifier], threads: Int, _ index: IdentifierIndex, in store: FeatureStore) {
            self.identifiers = identifiers
            // Most of the time is spent waiting for memory.
            let parallel = Parallel(.shared, threads: threads, smallestShare: Self.smallestShare)
            let count = parallel.shares(of: identifiers.count, perThread: 1)
            let parts = parallel.map(count) { number, _ in
                let (start, end) = Parallel.bounds(number, of: count, count: identifiers.count)
                return index.rows(of: identifiers[start..<end], in: store)
            }
            found = parts.count == 1 ? parts[0] : Array(parts.joined())
            known.reserveCapacity(identifiers.count)
            all.reserveCapacity(identifiers.count)
        }

        /// Below this many ids for each thread, another thread costs more than it saves.
        private static var smallestShare: Int { 512 }

        /// - Parameter old: its rows in the old store.
        mutating func number(of identifier: FeatureIdentifier, at old: IdentifierIndex.Rows) -> Int {
            if let number = old.first.map({ known[$0] }) ?? new[identifier] { return number }
            if let row = old.first { known[row] = all.count } else { new[identifier] = all.count }
            all.append(Trace(identifier, old))
            return all.count - 1
        }

        /// The last feature of each id among the new rows of a step, in the order of the ids' first occurrence.
        mutating func latest(
            _ rows: Range<Int>, of step: Int, _ isIgnored: (Int) -> Bool
        ) -> [(number: Int, row: Int)] {
            var latest: [(number: Int, row: Int)] = []
            latest.reserveCapacity(rows.count)
            for row in rows where !isIgnored(row) {
                let number = number(of: identifiers[row], at: found[row])
                if let upsert = all[number].upsert, upsert.step == step {
                    latest[upsert.place].row = row
                } else {
                    all[number].upsert = (step, latest.count)
                    latest.append((number, row))
                }
            }
            return latest
        }
    }

    /// - Parameters:
    ///   - steps: what to do, in order.
    ///   - identifiers: the new features' ids by row.
    ///   - groups: which of the new rows belong to one feature.
    ///   - isLoaded: whether the source loads a new feature. One that it does not load is removed.
    ///   - isIgnored: whether a new feature changes nothing.
    ///   - countsRows: whether to count removed rows rather than removed ids.
    ///   - threads: how many threads may look for rows.
    ///   - index: finds the features of an id in the old store.
    package init(
        _ steps: [Step], identifiers: [FeatureIdentifier], groups: RowGroups = RowGroups(), isLoaded: (Int) -> Bool,
        isIgnored: (Int) -> Bool = { _ in false }, countsRows: Bool = true, threads: Int = 1,
        index: IdentifierIndex, old store: FeatureStore
    ) {
        var traces = Traces(identifiers, threads: threads, index, in: store)
        var insertions = 0
        for (step, now) in steps.enumerated() {
            for (identifier, old) in zip(now.removals, index.rows(of: now.removals[...], in: store)) {
                let number = traces.number(of: identifier, at: old)
                guard traces.all[number].removal != step else { continue }
                traces.all[number].removal = step
                guard traces.all[number].exists else {
                    missing += 1
                    continue
                }
                removed += countsRows && traces.all[number].new == nil ? traces.all[number].old.count : 1
                traces.all[number].remove()
            }
            for (number, row) in traces.latest(now.rows, of: step, isIgnored) {
                let group = groups.rows(of: row)
                switch (group.contains(where: isLoaded), traces.all[number].exists) {
                case (true, let exists):
                    if exists {
                        updated += 1
                    } else {
                        inserted += 1
                        insertions += 1
                        traces.all[number].insertion = insertions
                    }
                    (traces.all[number].exists, traces.all[number].new) = (true, group.lowerBound)
                case (false, true):
                    removed += 1
                    traces.all[number].remove()
                case (false, false): break
                }
            }
        }
        changes.reserveCapacity(traces.all.count)
        outcome.rows.reserveCapacity(traces.all.count)
        var appended: [(insertion: Int, row: Int)] = []
        for trace in traces.all {
            if trace.keepsRows {
                guard let row = trace.new else { continue }
                put(groups.rows(of: row).filter(isLoaded), over: trace.old)
                outcome.rows.append(row)
                continue
            }
            for row in trace.old { changes.append(FeatureReplacement(row: row, newRow: nil)) }
            if !trace.old.isEmpty { outcome.removals.append(trace.identifier) }
            if let row = trace.new { appended.append((trace.insertion, row)) }
        }
        for (_, row) in appended.sorted(by: { $0.insertion < $1.insertion }) {
            additions += groups.rows(of: row).filter(isLoaded)
            outcome.rows.append(row)
        }
        sortChanges()
    }

    /// Removes features by their rows.
    package init(removing rows: [Int]) {
        changes = rows.map { FeatureReplacement(row: $0, newRow: nil) }
        sortChanges()
        removed = rows.count
    }

    /// Makes a plan from known changes, without counts.
    ///
    /// - Parameter changes: of different rows.
    package init(changes: [FeatureReplacement], additions: [Int]) {
        (self.changes, self.additions) = (changes, additions)
        sortChanges()
    }

    /// Sorts by row. No row is in the list twice, since each is of one id.
    private mutating func sortChanges() {
        guard changes.count > 1 else { return }
        var order = changes.enumerated().map { UInt64(truncatingIfNeeded: $1.row) << 32 | UInt64($0) }
        NumberSort.sort(&order)
        changes = order.map { changes[Int(UInt32(truncatingIfNeeded: $0))] }
        assert(zip(changes, changes.dropFirst()).allSatisfy { $0.row < $1.row })
    }

    private mutating func put(_ new: [Int], over old: IdentifierIndex.Rows) {
        // The positions of a feature stay together, at the feature's position in the order.
        let room = Self.consecutive(old)
        for (index, row) in old.enumerated() {
            let newRow = index < min(room.count, new.count) ? new[index] : nil
            changes.append(FeatureReplacement(row: row, newRow: newRow))
        }
        let rest = new.dropFirst(room.count)
        if let last = room.last, !rest.isEmpty { insertions[last] = rest }
    }

    /// The first rows that follow one another without a gap.
    private static func consecutive(_ rows: IdentifierIndex.Rows) -> Range<Int> {
        guard let first = rows.first else { return 0..<0 }
        let end = rows.indices.first { rows[$0] != first + $0 } ?? rows.count
        return first..<first + end
    }

    /// The features after the update, as slices of the two stores.
    package func slices(old: FeatureStore, new: FeatureStore) -> [FeatureSlice] {
        var slices: [FeatureSlice] = []
        var start = 0
        func append(_ newRow: Int) { slices.append(FeatureSlice(store: new, rows: newRow..<newRow + 1)) }
        for change in changes {
            if start < change.row { slices.append(FeatureSlice(store: old, rows: start..<change.row)) }
            if let newRow = change.newRow { append(newRow) }
            insertions[change.row]?.forEach(append)
            start = change.row + 1
        }
        if start < old.count { slices.append(FeatureSlice(store: old, rows: start..<old.count)) }
        for row in additions { slices.append(FeatureSlice(store: new, rows: row..<row + 1)) }
        return slices
    }
}
