// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// A source's work in the background. Each kind runs at most once at a time. Kinds run beside each other, since
/// expiry must not wait for the snapshot of a large source, but nothing runs beside `reopen`.
package final class SourceJobs: Sendable {
    package enum Kind: Sendable {
        /// Reads the files again, after damage or once the machine may be able to.
        case reopen
        /// Writes a snapshot.
        case save
        /// Removes expired features.
        case expire
        /// Clusters base and delta as a whole.
        case compact
    }

    private let running = Mutex<Set<Kind>>([])
    /// Each source has its own queue, since its disk may hang.
    private let queue = DispatchQueue(label: "source", qos: .utility, attributes: .concurrent)

    /// Runs work, unless work of this kind waits or runs. Never waits.
    package func run(_ kind: Kind, _ body: @escaping @Sendable () -> Void) {
        guard running.withLock({ $0.insert(kind).inserted }) else { return }
        queue.async(flags: kind == .reopen ? .barrier : []) { [self] in
            body()
            running.withLock { _ = $0.remove(kind) }
        }
    }

    /// Waits until no work runs; for tests.
    package func wait() { queue.sync(flags: .barrier) {} }
}

extension Source {
    /// What a compaction has to know of the changes beside it.
    struct Compaction {
        /// For each update since it began, the rows that it changed; nil if none is running.
        var updates: [[Int]]?
        /// The size of the delta at which the next compaction begins, if that is more than usual.
        var floor = 0
    }

    /// Begins a compaction and records updates from now on. Returns the revision to compact; nil if a compaction
    /// is running or there is no delta.
    package func beginCompaction() -> Revision? {
        state.withLock { state in
            guard state.isServing, state.compaction.updates == nil, !state.revision.isPlain else {
                return nil
            }
            state.compaction.updates = []
            return state.revision
        }
    }

    /// Whether the compaction is still useful: the data have not been replaced.
    package var isCompacting: Bool { state.withLock { $0.isServing && $0.compaction.updates != nil } }

    /// The current revision, and the updates since the last call; nil if the data have been replaced.
    package func takeUpdates() -> (Revision, [[Int]])? {
        state.withLock { state in
            guard state.isServing, let updates = state.compaction.updates else { return nil }
            state.compaction.updates = []
            return (state.revision, updates)
        }
    }

    /// The size of the delta at which the next compaction begins, if that is more than usual.
    package var compactionFloor: Int {
        get { state.withLock { $0.compaction.floor } }
        set { state.withLock { $0.compaction.floor = newValue } }
    }

    /// Ends a failed compaction, which is retried when the delta reaches `floor`. If the data have been replaced,
    /// there is nothing to retry.
    package func giveUpCompaction(until floor: Int) {
        state.withLock { state in
            state.compaction = Compaction(floor: state.compaction.updates == nil ? 0 : floor)
        }
    }

    /// A moment, in milliseconds since 1970, before which no feature was inserted; nil if unknown.
    package var oldest: Int64? { state.withLock { $0.oldest } }

    /// Sets `oldest`, unless the revision is no longer the current one.
    package func setOldest(_ moment: Int64, in revision: Revision) {
        state.withLock { if $0.revision === revision { $0.oldest = moment } }
    }
}
