// SPDX-License-Identifier: MIT
import Dispatch
import GeoJSON
import SystemSupport

extension Source {
    /// Writes a snapshot of the current data in the background and begins a new journal. Changes continue
    /// meanwhile. Does nothing if a snapshot is being written, or the source has no files, or changes are being
    /// replayed: the snapshot would lack those that follow, and the next start would begin with it.
    package func saveLater() {
        guard let files, !files.isReplaying, beginSaving() else { return }
        background.async { [self] in
            defer { endSaving() }
            do throws(SourceError) {
                try save()
            } catch {
                switch error {
                // The source has been deleted, or the damage has been reported.
                case .sourceNotFound, .damaged: return
                default: break
                }
                shared.report(
                    StateEvent(
                        gravity: .warning, source: name.text,
                        message:
                            "no snapshot could be written, so the journal continues: \(error.description)"))
            }
        }
    }

    private func save() throws(SourceError) {
        guard let files else { return }
        let (revision, moment, generation) = try withChangeLock {
            () throws(SourceError) -> (Revision, Timestamp, UInt64) in
            let revision = self.revision
            return (revision, updatedAt, try files.beginSnapshot(of: revision))
        }
        // A snapshot holds a plain revision. The next start continues with its new number.
        let plain = try revision.isPlain ? revision : rebuild(revision)
        plain.follow(revision.log)
        guard !revision.isDamaged else { throw reportDamage() }
        guard let written = try files.writeSnapshot(plain, generation: generation, updatedAt: moment) else {
            return
        }
        if written !== plain {
            // With the lock held, since a change that is under way goes on from the store before.
            try withChangeLock { () throws(SourceError) in move(from: plain.store, to: written.store) }
        }
        if plain !== revision { try renew(from: written, generation: generation, updatedAt: moment) }
        // The snapshot made the overview of earlier changes void.
        saveOverviewLater()
    }

    /// The same features clustered as a whole.
    package func rebuild(_ revision: Revision) throws(SourceError) -> Revision {
        // All text is read before other sources have to wait.
        let store = revision.store.plain(spill: DraftMaker(files, shared)?.spill)
        guard !revision.isDamaged else { throw reportDamage() }
        return try shared.rebuilding.withLock(.never) { () throws(SourceError) in
            try revision.rebuilt(from: store, owner: owner)
        }
    }
}

extension Revision {
    /// The same features clustered from scratch, under a new number, since cluster ids change.
    ///
    /// - Parameter store: its features without a delta.
    func rebuilt(
        from store: FeatureStore, owner: UInt32?, _ cancellation: Cancellation = .never
    ) throws(SourceError) -> Revision {
        let maker = RevisionMaker(options: options, shared: shared, owner: owner, cancellation: cancellation)
        return try maker.make(store)
    }
}
