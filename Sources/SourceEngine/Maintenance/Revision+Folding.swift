// SPDX-License-Identifier: MIT
import GeoJSON

/// Clusters that were made again beside changed features need not be made a third time for a snapshot.
extension Revision {
    /// The same features and clusters on a plain store, for a snapshot. O(the features' bytes).
    ///
    /// - Returns: nil if the clusters are a delta too, or if rows lack a feature: then everything must be clustered.
    func folded(spill: TextSpill?) -> Revision? {
        guard !isPlain, store.removedCount == 0, isFoldable else { return nil }
        let identifiers = readyIdentifiers.flatMap { $0.hasAdditions ? nil : $0 }
        return Revision(
            number: number, options: options, store: store.plain(spill: spill), columns: columns, view: view,
            views: namedViews, buildMilliseconds: buildMilliseconds, identifiers: identifiers,
            codes: readyFeatureCodes, logs: logs, shared: shared)
    }

    /// Whether all points have the numbers of their features' rows, in indexes without a delta.
    private var isFoldable: Bool {
        ([self] + views).allSatisfy { $0.view.index.isPlain && $0.view.order == nil && !$0.view.isAhead }
    }
}

extension Source {
    /// Makes the current revision's features a delta beside those of a snapshot, so that it becomes small again. The
    /// caller must hold the source's lock.
    ///
    /// - Parameters:
    ///   - earlier: the revision that was folded for the snapshot.
    ///   - written: the snapshot's, read from its file.
    func fold(_ earlier: Revision, onto written: Revision) {
        let newest = revision
        // A view in the order of a key reads the features that it was built of.
        guard newest.store.plainBase === earlier.store.plainBase,
            ([newest] + newest.views).allSatisfy({ $0.view.order == nil })
        else { return }
        let folded = newest.with(newest.store.folded(onto: written.store, since: earlier.store))
        let isMade = state.withLock { state in
            guard state.revision === newest else { return false }
            state.revision = folded
            return true
        }
        guard isMade else { return }
        shared.filters.forget(lineage: newest.store.lineage)
        shared.memory.fitPages()
    }
}
