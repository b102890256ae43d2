// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import SourceStorage
import SystemSupport

extension Source {
    /// Writes a snapshot of the current data in the background, so that a new journal begins. Changes go on
    /// meanwhile. Does nothing if one is being written, or the source is kept nowhere.
    package func saveLater() {
        guard files != nil, beginSaving() else { return }
        background.async { [self] in
            defer { endSaving() }
            do throws(SourceError) {
                try save()
            } catch {
                switch error {
                // The one is of no interest any more, the other reported already.
                case .sourceNotFound, .damaged: return
                default: break
                }
                shared.report(
                    StateEvent(
                        gravity: .warning, source: name.text,
                        message:
                            "no snapshot could be written, and the journal goes on: \(error.description)"))
            }
        }
    }

    private func save() throws(SourceError) {
        guard let files else { return }
        let (revision, moment, generation) = try inTurn {
            () throws(SourceError) -> (Revision, Timestamp, UInt64) in
            let revision = self.revision
            return (revision, updatedAt, try files.beginSnapshot(of: revision))
        }
        // A snapshot holds what was built as a whole; the next start takes it up under its new number.
        let plain = try revision.isPlain ? revision : rebuild(revision)
        plain.follow(revision.log)
        guard !revision.store.isDamaged else { throw reportDamage() }
        guard let written = try files.writeSnapshot(plain, generation: generation, updatedAt: moment),
            written !== plain
        else { return }
        // With the lock held, since a change that is under way goes on from the store before.
        try inTurn { () throws(SourceError) in move(from: plain.store, to: written.store) }
    }

    private func rebuild(_ revision: Revision) throws(SourceError) -> Revision {
        // All text is read before other sources have to wait.
        let store = revision.store.plain(spill: DraftMaker(files, shared)?.spill)
        guard !revision.store.isDamaged else { throw reportDamage() }
        return try shared.rebuilding.withLock(.never) { () throws(SourceError) in
            try revision.rebuilt(from: store, owner: owner)
        }
    }
}

extension Revision {
    /// The same features clustered as a whole, under a new number: its clusters have other ids.
    ///
    /// - Parameter store: its features without changes.
    func rebuilt(
        from store: FeatureStore, owner: UInt32?, _ cancellation: Cancellation = .never
    ) throws(SourceError) -> Revision {
        let maker = RevisionMaker(options: options, shared: shared, owner: owner, cancellation: cancellation)
        return try maker.make(store)
    }
}
