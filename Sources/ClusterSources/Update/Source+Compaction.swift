// SPDX-License-Identifier: MIT
import Dispatch

/// Working changes into a whole, beside queries and further updates.
///
/// Copying and searching the changes makes updates slower as they grow; so now and then the features are
/// clustered as a whole, off to the side, and updates that came meanwhile are followed on that. The features
/// are the same, but clusters get the ids of a fresh load; so it is a new revision.
extension Source {
    func compactIfGrown(_ revision: Revision) {
        let growth = revision.growth
        let most = min(shared.limits.changesKept, max(8192, revision.pointCount / 32))
        guard growth > max(most, compactionFloor) else { return }
        guard let base = beginCompaction() else { return }
        DispatchQueue.global(qos: .utility).async { self.compact(base) }
    }

    /// Works changes in at once; for tests.
    func compact() {
        if let base = beginCompaction() { compact(base) }
    }

    private static let rounds = 6

    private func follow(
        _ updates: ArraySlice<FeatureUpdate>, on base: Revision, _ cancellation: Cancellation
    ) throws(SourceError) -> Revision {
        var revision = base
        for update in updates {
            revision = try update.apply(to: revision, owner: owner, isCounted: false, cancellation).0
        }
        return revision
    }

    private func compact(_ base: Revision) {
        let cancellation = Cancellation { [self] in updatesMeanwhile == nil }
        do throws(SourceError) {
            let maker = RevisionMaker(
                options: base.options, shared: shared, owner: owner, cancellation: cancellation)
            var revision = try maker.make(base.store.plain())
            guard !base.store.isDamaged else { throw reportDamage() }
            var followed = 0
            // Most of what came meanwhile is followed while more may come; only the rest makes updates wait.
            for _ in 0..<Self.rounds {
                guard let updates = updatesMeanwhile, updates.count > followed else {
                    break
                }
                revision = try follow(updates[followed...], on: revision, cancellation)
                followed = updates.count
            }
            try inTurn(cancellation) { () throws(SourceError) in
                guard let updates = updatesMeanwhile else { return }
                try publish(follow(updates[followed...], on: revision, .never), at: nil)
            }
        } catch {
            // The changes answer as before; when they have grown as much again it is tried again.
            giveUpCompaction(until: 2 * base.growth)
        }
    }
}

extension Revision {
    /// How much lies beside what was built as a whole, in nodes and features.
    fileprivate var growth: Int { view.index.overlaySize + store.changeCount }
}
