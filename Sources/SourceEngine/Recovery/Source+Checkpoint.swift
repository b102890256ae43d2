// SPDX-License-Identifier: MIT
import SystemSupport

/// Writes checkpoints, and replays changes with them.
extension Source {
    /// Writes a checkpoint in the background once enough was clustered since the last one.
    func checkpointIfWorthwhile() {
        guard let files, files.wantsCheckpoint(shared.limits, canWait: jobs.isRunning(.save, .compact)) else { return }
        jobs.run(.checkpoint) { [self] in
            checkpoint(files)
        } then: { [self] in
            compactIfGrown(revision)
        }
    }

    private func checkpoint(_ files: SourceFiles) {
        let found = try? withChangeLock { () throws(SourceError) -> (Revision, SourceFiles.CheckpointPlan)? in
            let (revision, isUnkept) = state.withLock { ($0.revision, $0.isUnkept) }
            // Data that no journal has must not come back with those that it has.
            guard !isUnkept, let plan = files.planCheckpoint(of: revision) else { return nil }
            return (revision, plan)
        }
        guard let (revision, plan) = found ?? nil else { return }
        do throws(FileError) {
            // It takes as long as thousands of changes, which go on meanwhile.
            try BackgroundThread.atLowPriority {
                Result { () throws(FileError) in try files.writeCheckpoint(of: revision, plan) }
            }.get()
        } catch {
            files.checkpointFailed()
            report(.warning, "no checkpoint could be written, so a start takes longer: \(error.description)")
        }
    }

    /// Gives the revision of the snapshot the clusters that the first changes will have made, so that these are
    /// replayed without clustering.
    ///
    /// - Returns: the number of these changes; 0 if there is no checkpoint for them.
    func beginCheckpointed(_ recovered: RecoveredSource) -> Int {
        guard let checkpoint = recovered.checkpoint, let end = checkpoint.end(in: recovered.changes),
            end <= recovered.firstGap, let view = checkpoint.ahead(revision.view)
        else { return 0 }
        // Those that it does not have are clustered once all has been replayed.
        let views = revision.namedViews.compactMap { named in
            checkpoint.ahead(named.view, named.name).map { named.with($0) }
        }
        state.withLock { $0.revision = $0.revision.with($0.revision.store, view, views: views) }
        return end
    }

    /// Completes the data once all changes that a checkpoint includes have been made.
    ///
    /// - Throws: `damaged` if the checkpoint is not of these changes: then all are replayed.
    func endCheckpointed() throws(SourceError) {
        let revision = revision
        let view = try caughtUp(revision, isOfAll: true)
        var views: [NamedView] = []
        for option in revision.options.views {
            guard let named = revision.named(option.name) else { continue }
            let view = try caughtUp(named, isOfAll: option.selection.isOfAll)
            views.append(NamedView(option, view, buildMilliseconds: named.buildMilliseconds))
        }
        state.withLock { $0.revision = revision.with(revision.store, view, views: views) }
    }

    /// The clusters of a source or of one of its views, completed.
    private func caughtUp(_ revision: Revision, isOfAll: Bool) throws(SourceError) -> View {
        let (view, store) = (revision.view, revision.store)
        // A change that was clustered as a whole has another view.
        guard view.isAhead, !isOfAll || revision.showsAll(view),
            // A feature whose sort key changed has another point than before.
            view.index.pointLimit == view.order?.pointLimit ?? store.count
        else { throw .damaged(name, "its checkpoint is not of its journal") }
        let aggregates = try LiveUpdate.aggregates(
            view, revision.options, view.index.changesOfBase, store, view.order, .never)
        guard let aggregates else { throw .damaged(name, "its checkpoint does not have all clusters") }
        return view.caughtUp(aggregates)
    }

    /// Clusters the named views that a replay has not.
    func completeViews() throws(SourceError) {
        let revision = revision
        let maker = RevisionMaker(options: revision.options, shared: shared, owner: owner, cancellation: .never)
        let complete = try maker.completing(revision)
        guard complete !== revision else { return }
        guard !revision.isDamaged else { throw reportDamage() }
        state.withLock { $0.revision = complete }
    }
}
