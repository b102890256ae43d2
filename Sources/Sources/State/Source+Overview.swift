// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization
import SystemSupport

/// The overview of a source with changes in its journals.
extension Source {
    /// Writes the overview in the background after a change, so that a start need not replay the change before it answers low
    /// zooms. While changes continue, that takes at most a twentieth of one thread's time.
    func saveOverviewLater() {
        guard let files, shared.limits.overviewPoints > 0 else { return }
        let revision = revision
        guard revision.pointCount >= shared.limits.overviewPoints, files.mayHaveOverview(revision),
            let pause = beginSavingOverview()
        else { return }
        let work = DispatchWorkItem { [weak self] in self?.saveOverview() }
        if pause > 0 {
            summarizing.asyncAfter(deadline: .now() + .nanoseconds(pause), execute: work)
        } else {
            summarizing.async(execute: work)
        }
    }

    /// Writes the overview that is due, if any. Blocks, also while another thread is writing it.
    package func saveOverview() {
        guard let files else { return }
        files.writingOverview.withLock { _ in
            guard takeDueOverview() else { return }
            let start = ThreadTime.now()
            writeOverview(to: files)
            tookOverview(pause: Self.overviewShare * Int(ThreadTime.now() - start))
        }
    }

    private func writeOverview(to files: SourceFiles) {
        let found = try? withChangeLock { (revision, updatedAt, files.position) }
        guard case (let revision, let updatedAt, let position?)? = found, files.mayHaveOverview(revision)
        else { return }
        // Without it the next start only takes longer.
        try? OverviewFile.write(
            revision, of: files.identity, updatedAt: updatedAt, loss: files.loss, at: position,
            in: files.directory)
    }

    /// The writing of overviews may take one part of a thread's processor time in so many.
    private static let overviewShare = 20

    /// Gives data whose changes were replayed the number of the revision under which their overview answered: they are the same.
    func continueRevision(of overview: Overview) {
        guard let position = overview.position, let files, files.position == position, fault == nil else {
            return
        }
        renumber(to: overview.revision.number) { files.mayHaveOverview($0) }
    }
}

extension SourceRegistry {
    /// Writes the overviews that are due, before the daemon ends. Blocks, for a second at most: a disk that does not answer
    /// must not keep the daemon from ending.
    public func saveOverviews() {
        let group = DispatchGroup()
        for source in all {
            DispatchQueue.global().async(group: group) { source.saveOverview() }
        }
        _ = group.wait(timeout: .now() + .seconds(1))
    }
}
