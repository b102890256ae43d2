// SPDX-License-Identifier: MIT
import GeoJSON
import SystemSupport

/// Keeps revisions on disk.
extension Source {
    /// - Returns: the revision of the change. If it is in a snapshot now, it reads its features' text from there.
    func keep(_ change: Change) throws(SourceError) -> Revision {
        guard let files else { return change.revision }
        if let directory = shared.directory, directory.hasLeftovers { directory.takeBackLeftovers() }
        switch change.keeping {
        case .later:
            // Nothing would be left after a kill if there were no earlier data. If the disk refuses, the copy answers
            // anyway.
            if !revision.hasData, let kept = try? keepWhole(change.revision, files, at: change.moment, loss: nil) {
                return kept
            }
            state.withLock { $0.isUnkept = true }
            return change.revision
        case .snapshot:
            let loss = change.replacesData ? nil : files.loss
            return try keepWhole(change.revision, files, at: change.moment, loss: loss)
        case .record where isUnkept || change.revision.isShortOfMemory:
            return try keepWhole(change.revision, files, at: change.moment, loss: nil)
        case .record(let record):
            var log: FollowedLog?
            if case .at(let reached) = change.log { log = reached }
            try files.append(record, at: change.moment, making: change.revision, log: log)
            if change.replacesData { files.forgetLoss() }
            return change.revision
        }
    }

    /// Makes the current revision read from a snapshot's image, unless its data have been replaced. The caller must
    /// hold the source's lock.
    ///
    /// - Parameters:
    ///   - base: what the snapshot was written of.
    ///   - moved: the same data on the image.
    package func move(from base: Revision, to moved: Revision) {
        guard base !== moved else { return }
        state.withLock { state in
            guard state.revision.store.plainBase === base.store.plainBase else { return }
            let store = state.revision.store.moved(to: moved.store)
            // What was changed meanwhile is not in the snapshot.
            let isSame = state.revision.view === base.view
            let views = state.revision.namedViews.map { named in
                guard base.named(named.name)?.view === named.view, let view = moved.named(named.name)?.view
                else { return named }
                return named.with(view)
            }
            state.revision = state.revision.with(
                store, isSame ? moved.view : nil, views: views, identifiers: isSame ? moved.readyIdentifiers : nil,
                codes: isSame ? moved.readyFeatureCodes : nil)
        }
        shared.memory.fitPages()
    }

    /// - Returns: the revision. If it is plain, it reads its features' text from the snapshot.
    private func keepWhole(
        _ revision: Revision, _ files: SourceFiles, at moment: Timestamp, loss: String?
    ) throws(SourceError) -> Revision {
        // A snapshot holds a plain revision, without a delta.
        let whole =
            try revision.isPlain ? revision : revision.rebuilt(from: revision.store.plain(spill: spill), owner: owner)
        whole.follow(revision.logs)
        let kept = try files.replace(with: whole, updatedAt: moment, loss: loss)
        state.withLock { $0.isUnkept = false }
        return whole === revision ? kept : revision
    }

    /// Stores the mark that the data have reached, and the data if they are not stored yet. The caller must hold the
    /// source's lock.
    package func keepProgress() throws(SourceError) {
        let revision = revision
        guard let files, let log = revision.logs.table else { return }
        if isUnkept {
            let kept = try keepWhole(revision, files, at: updatedAt, loss: nil)
            return move(from: revision, to: kept)
        }
        try files.append(.progress, at: updatedAt, making: revision, log: log)
    }

    /// For text that is too long for memory; nil if the source has no files.
    var spill: TextSpill? { DraftMaker(files, shared)?.spill }

    private var isUnkept: Bool { state.withLock { $0.isUnkept } }

    /// Writes a snapshot in the background if the journal has grown, so that the next start replays little.
    func saveIfWorthwhile() {
        guard let files, files.wantsSnapshot(shared.limits, canWait: jobs.isRunning(.compact)), !isUnkept else {
            return
        }
        saveLater()
    }

    /// Writes a snapshot of the current data in the background and begins a new journal. Changes continue
    /// meanwhile. Does nothing if a snapshot is being written, or the source has no files. While changes are being
    /// replayed, nothing is saved: the snapshot would lack those that follow, and the next start would begin with it.
    package func saveLater() {
        guard state.withLock({ $0.isServing && $0.files != nil }) else { return }
        jobs.run(.save) { [self] in
            do throws(SourceError) {
                try save()
            } catch {
                switch error {
                // The source has been deleted, or the damage has been reported.
                case .sourceNotFound, .damaged: return
                default: if isRetired { return }
                }
                report(.warning, "no snapshot could be written, so the journal continues: \(error.description)")
            }
        } then: { [self] in
            compactIfGrown(revision)
        }
    }

    private func save() throws(SourceError) {
        guard let files else { return }
        let (revision, moment, generation, base) = try withChangeLock {
            () throws(SourceError) -> (Revision, Timestamp, UInt64, Revision?) in
            let revision = self.revision
            let generation = try files.beginSnapshot(of: revision)
            // The clusters that a snapshot needs do for a compaction as well, if one will soon be due.
            let isDue = revision.canMakeClustersAlone && revision.growth > revision.mostGrowth / 8
            return (revision, updatedAt, generation, isDue ? beginCompaction() : nil)
        }
        let compacted = base.flatMap { compact($0, isForSnapshot: true).clusteredAlone }
        // A snapshot holds a plain revision. The next start continues with its new number.
        let folded = try atLowPriority { [self] () throws(SourceError) in
            try gathered(revision, compacted)
        }
        let plain: Revision
        if revision.isPlain {
            plain = revision
        } else if let folded {
            plain = folded
        } else {
            plain = try atLowPriority { [self] () throws(SourceError) in try rebuild(revision) }
        }
        plain.follow(revision.logs)
        guard !revision.isDamaged else { throw reportDamage() }
        guard let written = try files.writeSnapshot(plain, generation: generation, updatedAt: moment) else {
            return
        }
        guard written !== plain else { return }
        // Changes that come all the time compare features' ids, and would wait for one page of the file after another.
        if folded != nil, changeCount.load(ordering: .relaxed) > 0 || self.revision.store !== revision.store {
            let base = revision.store.plainBase
            try atLowPriority { [self] in
                written.readFeaturesAhead { state.withLock { $0.isServing && $0.revision.store.plainBase === base } }
            }
        }
        // With the lock held, since a change that is under way goes on from the store before.
        try withChangeLock { () throws(SourceError) in
            if folded == nil { move(from: plain, to: written) } else { fold(revision, onto: written) }
        }
    }

    /// The same features without a delta, in a store of their own, if only their clusters have to be made again; else nil.
    ///
    /// - Parameter compacted: the same with all clusters made again, if a compaction has made them.
    private func gathered(_ revision: Revision, _ compacted: Revision?) throws(SourceError) -> Revision? {
        if let compacted { return compacted.folded(spill: spill) }
        return (try clusteredAlone(revision) ?? revision).folded(spill: spill)
    }

    /// The same features, with all clusters made again if these are a delta and the features may stay one; else nil.
    private func clusteredAlone(_ revision: Revision) throws(SourceError) -> Revision? {
        guard !revision.view.index.isPlain, revision.canMakeClustersAlone else { return nil }
        let maker = RevisionMaker(
            options: revision.options, shared: shared, owner: owner, threads: 1, cancellation: .never)
        return try maker.makeClusteredAgain(revision)
    }

    /// The same features clustered as a whole.
    package func rebuild(_ revision: Revision) throws(SourceError) -> Revision {
        // All text is read before other sources have to wait.
        let store = revision.store.plain(spill: spill)
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
