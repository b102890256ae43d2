// SPDX-License-Identifier: MIT
import GeoJSON
import ImageStore
import Synchronization
import SystemSupport

/// Makes and publishes revisions.
extension Source {
    /// How a change is stored on disk.
    package enum Keeping {
        /// By a snapshot of the new revision, which need not follow from the old one.
        case snapshot
        /// By a journal record of the call.
        case record(JournalRecord)
        /// Not yet: the revision is published at once, and the next change, or `keepMark`, stores it. For data that can
        /// be fetched again. The source's first data are stored before, if possible.
        case later
    }

    /// A revision to be published, and how it is stored.
    package struct Change {
        package let revision: Revision
        package var keeping: Keeping
        /// Whether it replaces all data, so that faults of the old data no longer matter.
        package var replacesData = false
        /// The rows whose features it changed or added; nil if it does not follow from the previous revision.
        package var changedRows: [Int]?
        /// The moment of the change.
        package var moment = Timestamp.now
        package var log = NextLog.none
        /// Earlier positions of that log that the change has passed, oldest first.
        package var passed: [String] = []
        /// Whether this change may trigger compaction. Large ones do not if features are compacted too: the next would
        /// arrive first.
        package var isCompacted = true
    }

    /// The log that the data of a new revision follow.
    package enum NextLog {
        /// The change came from no log. The data are no copy of a table any more; positions of feeds stay.
        case none
        /// The same logs and positions as the previous revision: the data are the same.
        case same
        case at(FollowedLog)

        func following(_ logs: FollowedLogs) -> FollowedLogs {
            switch self {
            case .none: logs.changedOtherwise
            case .same: logs
            case .at(let log): logs.advanced(to: log)
            }
        }
    }

    /// Makes a new revision from the current one, stores it if the source has files, and publishes it.
    ///
    /// Changes of one source wait for each other here, so `make` sees the newest revision and its result
    /// follows from it. If this throws, nothing has changed. Blocks: only for threads of the pool.
    package func change(
        _ cancellation: Cancellation, _ make: (Revision) throws(SourceError) -> Change
    ) throws(SourceError) -> Revision {
        changeCount.add(1, ordering: .relaxed)
        defer { changeCount.subtract(1, ordering: .relaxed) }
        var isCompacted = true
        let revision = try lock.withLock(cancellation) { () throws(SourceError) -> Revision in
            let base = try changeable()
            let made = Result { () throws(SourceError) in try make(base) }
            // Text and index are read meanwhile, so the result, or the error, may come from damaged ones.
            guard !base.isDamaged else { throw reportDamage() }
            let change = try made.get()
            try change.revision.store.checkWritten()
            guard !cancellation.isCancelled else { throw .cancelled }
            let logs = base.logs
            change.revision.follow(change.log.following(logs))
            let kept: Revision
            do throws(SourceError) { kept = try keep(change) } catch {
                // Of a change of nothing but the position, this is the current revision.
                if change.revision === base { base.follow(logs) }
                throw error
            }
            if change.replacesData { state.withLock { $0.note = nil } }
            if kept === base {
                positionObservers.notify()
            } else {
                try publish(kept, changing: change.changedRows, at: change.moment, log: change.log)
            }
            // After the data are visible.
            if case .at(let log) = change.log { note(log, passed: change.passed) }
            isCompacted = change.isCompacted
            return kept
        }
        if isCompacted { compactIfGrown(revision) }
        prepareIdentifiers(of: revision)
        saveIfWorthwhile()
        checkpointIfWorthwhile()
        return revision
    }

    /// The current data, from which a change follows. While a source is being opened, only the changes in its own
    /// journals are made.
    func changeable() throws(SourceError) -> Revision {
        let (revision, life, isKept, image) = state.withLock { ($0.revision, $0.life, $0.files != nil, $0.image) }
        if let image, case .serving = life { throw .attached(name, image) }
        switch life {
        case .opening where !isKept: throw .unavailable(name, Self.isBeingRead)
        case .opening, .serving: return revision
        case .faulted(let fault): throw SourceError(fault, of: name)
        case .retired: throw .sourceNotFound(name)
        }
    }

    /// Builds the index by id ahead of time, so that the first large update or the first search does not wait for it.
    private func prepareIdentifiers(of revision: Revision) {
        guard revision.pointCount >= Self.manyPoints else { return }
        revision.prepareIdentifiers(Cancellation { [weak self] in self?.revision !== revision })
    }

    /// Below this, the index by id is built on first use.
    private static let manyPoints = 50_000

    /// Runs a body with the source's lock held: no change comes between.
    package func withChangeLock<Result>(
        _ cancellation: Cancellation = .never, _ body: () throws(SourceError) -> Result
    ) throws(SourceError) -> Result {
        try lock.withLock(cancellation, body)
    }

    /// Publishes a revision.
    ///
    /// - Parameters:
    ///   - rows: the rows whose features changed; nil if all data were replaced, so that a running
    ///     compaction has become useless.
    ///   - moment: nil if the features have not changed.
    package func publish(
        _ revision: Revision, changing rows: [Int]? = nil, at moment: Timestamp?, log: NextLog = .same
    ) throws(SourceError) {
        let isRetired = state.withLock { state in
            guard !state.isRetired else { return true }
            let old = state.revision
            if case .same = log { revision.follow(old.logs) }
            shared.filters.forget(revision: old.number)
            if old.store.lineage != revision.store.lineage {
                shared.filters.forget(lineage: old.store.lineage)
            }
            state.revision = revision
            current.set(state.answering)
            if let rows {
                if state.compaction.base != nil { state.compaction.updates.append(rows) }
            } else {
                state.compaction = Compaction()
                state.oldest = nil
            }
            if let moment { state.updatedAt = moment }
            return false
        }
        guard !isRetired else { throw .sourceNotFound(name) }
        observers.notify()
        positionObservers.notify()
        if revision.isPlain { Allocator.trim() }
        shared.memory.fitPages()
    }
}
