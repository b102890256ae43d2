// SPDX-License-Identifier: MIT
import SystemSupport

/// Writes checkpoints, and replays changes with them.
extension Source {
    /// Writes a checkpoint in the background once enough was clustered since the last one.
    func checkpointIfWorthwhile() {
        guard let files, files.wantsCheckpoint(shared.limits) else { return }
        jobs.run(.checkpoint) { [self] in checkpoint(files) }
    }

    private func checkpoint(_ files: SourceFiles) {
        let found = try? withChangeLock { () throws(SourceError) -> (Revision, SourceFiles.CheckpointPlan)? in
            let (revision, isUnkept) = state.withLock { ($0.revision, $0.isUnkept) }
            // Data that no journal has must not come back with those that it has.
            guard !isUnkept, let plan = files.planCheckpoint(of: revision) else { return nil }
            return (revision, plan)
        }
        guard let (revision, plan) = found ?? nil else { return }
        do throws(FileError) { try files.writeCheckpoint(of: revision, plan) } catch {
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
            end <= recovered.firstGap, let index = checkpoint.index(over: revision.view.index)
        else { return 0 }
        state.withLock { state in
            let view = state.revision.view.ahead(index, bounds: checkpoint.bounds)
            state.revision = state.revision.with(state.revision.store, view)
        }
        return end
    }

    /// Completes the data once all changes that a checkpoint includes have been made.
    ///
    /// - Throws: `damaged` if the checkpoint is not of these changes: then all are replayed.
    func endCheckpointed() throws(SourceError) {
        let revision = revision
        let (view, store) = (revision.view, revision.store)
        // A change that was clustered as a whole has another view.
        guard view.isAhead, view.index.pointCount == store.count - store.removedCount,
            // A feature whose sort key changed has another point than before.
            view.order != nil || view.index.pointLimit == store.count
        else { throw .damaged(name, "its checkpoint is not of its journal") }
        let aggregates = try LiveUpdate.aggregates(
            view, revision.options, view.index.changesOfBase, store, view.order, .never)
        guard let aggregates else { throw .damaged(name, "its checkpoint does not have all clusters") }
        state.withLock { state in state.revision = revision.with(store, view.caughtUp(aggregates)) }
    }
}
