// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import SourceStorage
import SystemSupport

/// Takes what changed in a source, while one of its revisions was built as a whole, over to what was built.
///
/// Not update by update but place by place: whatever became of a feature meanwhile, its last contents are
/// taken over once. Between steps the revision is one that never answered: some places are new, others not.
package struct CatchUp: Sendable {
    /// The revision that was built as a whole.
    private let start: Revision
    /// Its features' places, ascending, if there are gaps: what was built has none.
    private let living: [UInt32]?
    /// What was built, as far as changes were taken over.
    package private(set) var revision: Revision
    private var newest: Revision
    /// Places, of the source's revisions, that are to be taken over.
    private var pending: Set<Int> = []
    /// By place behind those of `start`: where the feature is in `revision`, nil if it left before.
    private var additions: [Int?] = []

    /// - Parameter whole: the features of `start` without gaps, built.
    package init(from start: Revision, to whole: Revision) {
        (self.start, revision, newest) = (start, whole, start)
        living = start.store.livingPlaces
    }

    /// How many places there are to be taken over.
    package var pendingCount: Int { pending.count }

    /// Notes which places changed, those of new features included, on the way to a revision.
    package mutating func note(_ places: [Int], upTo newest: Revision) {
        pending.formUnion(places)
        self.newest = newest
    }

    /// Takes some places over, at most `limit` of those noted.
    ///
    /// Throws `cancelled` too where the changes cannot be followed.
    ///
    /// - Parameter threads: how many may work at the same time.
    package mutating func follow(
        atMost limit: Int, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) {
        // Steps so small that each can be followed. Ascending: new features come in the order of their places.
        let step = min(1024, max(64, revision.pointCount / 16))
        var rest = pending.sorted().prefix(limit)
        while !rest.isEmpty {
            let batch = rest.prefix(step)
            try takeOver(batch, threads, cancellation)
            pending.subtract(batch)
            rest = rest.dropFirst(step)
        }
    }

    private mutating func takeOver(
        _ places: ArraySlice<Int>, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) {
        var changes: [Int: Int?] = [:]
        var (added, slices): ([Int], [FeatureSlice]) = ([], [])
        for place in places {
            let row = newest.store.isGone(place) ? nil : slices.count
            if place - start.store.count >= additions.count {
                additions.append(row.map { _ in revision.store.count + added.count })
                if let row { added.append(row) }
            } else if let known = self.place(of: place) {
                changes[known] = .some(row)
            } else {
                continue
            }
            if row != nil { slices.append(FeatureSlice(store: newest.store, rows: place..<place + 1)) }
        }
        guard !(changes.isEmpty && added.isEmpty) else { return }
        let store = FeatureStore.joining(slices)
        let identifiers = (0..<store.count).compactMap { store.featureIdentifier($0) }
        // Only features with ids are changed one by one.
        guard identifiers.count == store.count,
            let followed = try LiveUpdate(
                base: revision, update: FeatureUpdate(store: store, identifiers: identifiers),
                plan: UpdatePlan(changes: changes, additions: added),
                identifiers: try revision.identifierIndex(cancellation), threads: threads,
                cancellation: cancellation
            ).make(since: .now)
        else { throw .cancelled }
        revision = followed
    }

    /// If a feature of the source is in `revision`.
    private func place(of place: Int) -> Int? {
        if place >= start.store.count { return additions[place - start.store.count] }
        guard let living else { return place }
        let index = living.partitionIndex { Int($0) < place }
        return index < living.count && Int(living[index]) == place ? index : nil
    }
}
