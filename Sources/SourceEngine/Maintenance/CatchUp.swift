// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import SystemSupport

/// Applies the changes that happened while a revision was being compacted to the compacted revision.
///
/// It works row by row, not update by update: however often a feature changed meanwhile, its final content is
/// applied once. Between steps the revision mixes new and old rows, so it must not be published.
///
/// If only the clusters were made again, nothing is clustered a second time: what updates have changed in the source's
/// clusters is changed in the compacted ones too.
package struct CatchUp: Sendable {
    /// The revision that was compacted.
    let start: Revision
    /// Its features' rows, ascending, if there are gaps. The compacted revision has none.
    private let living: [UInt32]?
    /// The compacted revision with the changes applied so far.
    package private(set) var revision: Revision
    private var newest: Revision
    /// The source's revision whose clusters the compacted one has; nil if its features were compacted too.
    private var reached: Revision?
    /// Rows of the source's revisions that are still to be applied.
    private var pending: Set<Int> = []
    /// By row after those of `start`: the feature's row in `revision`; nil if it was removed before.
    private var additions: [Int?] = []

    /// - Parameters:
    ///   - whole: the compacted revision, with the features of `start` without gaps.
    ///   - areClustersAlone: whether only the clusters were compacted.
    package init(from start: Revision, to whole: Revision, areClustersAlone: Bool = false) {
        (self.start, revision, newest) = (start, whole, start)
        living = start.store.livingRows
        if areClustersAlone { reached = start }
    }

    /// Whether only the clusters were compacted.
    var areClustersAlone: Bool { reached != nil }

    /// The most rows that take so little time that updates may wait for them: more if none is clustered. Then also those of
    /// an update, since the next one comes while a round takes about as long.
    ///
    /// - Parameter update: the rows of the largest update of the last round.
    func fewRows(beside update: Int) -> Int { reached == nil ? Source.rowsWhileLocked : 512 + update }

    /// The number of rows still to be applied.
    package var pendingCount: Int { pending.count }

    /// Records which rows changed, including those of new features, up to a revision.
    package mutating func note(_ rows: [Int], upTo newest: Revision) {
        pending.formUnion(rows)
        self.newest = newest
    }

    /// Applies at most `limit` of the recorded rows.
    ///
    /// Also throws `cancelled` if the changes cannot be applied in place.
    ///
    /// - Parameter threads: the most threads to use.
    package mutating func follow(atMost limit: Int, threads: Int, _ cancellation: Cancellation) throws(SourceError) {
        if let reached { return try rebase(from: reached, threads, cancellation) }
        // Steps are small enough to be applied in place. They ascend, so that new features come in the order of their
        // rows.
        let step = min(1024, max(64, revision.pointCount / 16))
        var rest = pending.sorted().prefix(limit)
        while !rest.isEmpty {
            let batch = rest.prefix(step)
            try apply(batch, threads, cancellation)
            pending.subtract(batch)
            rest = rest.dropFirst(step)
        }
    }

    /// Applies all recorded rows.
    private mutating func rebase(from start: Revision, _ threads: Int, _ cancellation: Cancellation) throws(SourceError)
    {
        guard newest !== start else { return }
        let (store, view) = (start.store, revision.view)
        let updated = newest.view.index.rebased(
            from: start.view.index, onto: view.index,
            changed: pending.map { PointIndex(rawValue: UInt32(truncatingIfNeeded: $0)) }, threads: threads,
            isOnDisk: { store.isOnDisk(Int($0.rawValue)) }, coordinates: { store.coordinates(Int($0.rawValue)) })
        // Clusters that were made of damaged pages are never published.
        guard let updated, !start.isDamaged, !newest.isDamaged,
            let aggregates = try LiveUpdate.aggregates(view, newest.options, updated, newest.store, nil, cancellation)
        else { throw .cancelled }
        revision = newest.with(
            newest.store,
            View(index: updated.index, members: nil, bounds: newest.view.bounds, aggregates: aggregates))
        reached = newest
        pending = []
    }

    private mutating func apply(
        _ rows: ArraySlice<Int>, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) {
        var changes: [FeatureReplacement] = []
        var (added, slices): ([Int], [FeatureSlice]) = ([], [])
        for row in rows {
            let newRow = newest.store.isRemoved(row) ? nil : slices.count
            if row - start.store.count >= additions.count {
                additions.append(newRow.map { _ in revision.store.count + added.count })
                if let newRow { added.append(newRow) }
            } else if let known = compactedRow(row) {
                changes.append(FeatureReplacement(row: known, newRow: newRow))
            } else {
                continue
            }
            if newRow != nil { slices.append(FeatureSlice(store: newest.store, rows: row..<row + 1)) }
        }
        guard !(changes.isEmpty && added.isEmpty) else { return }
        let store = FeatureStore.joining(slices)
        let identifiers = (0..<store.count).compactMap { store.featureIdentifier($0) }
        // Only features with ids are updated one by one.
        guard identifiers.count == store.count,
            let followed = try LiveUpdate(
                base: revision, update: FeatureUpdate(store: store, identifiers: identifiers),
                plan: UpdatePlan(changes: changes, additions: added),
                identifiers: try revision.identifierIndex(cancellation), threads: threads, cancellation: cancellation
            ).make(since: .now)
        else { throw .cancelled }
        revision = followed
    }

    /// The row in `revision` of a feature of the source; nil if it is not in it.
    private func compactedRow(_ row: Int) -> Int? {
        if row >= start.store.count { return additions[row - start.store.count] }
        guard let living else { return row }
        let index = living.partitionIndex { Int($0) < row }
        return index < living.count && Int(living[index]) == row ? index : nil
    }
}
