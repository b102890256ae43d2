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
        /// Writes a checkpoint.
        case checkpoint
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
        /// What is compacted; nil if nothing is. It also tells compactions apart: one that has become useless may still be
        /// at work when the next one begins.
        var base: Revision?
        /// For each update since it began, the rows that it changed.
        var updates: [[Int]] = []
        /// The size of the delta at which the next compaction begins, if that is more than usual.
        var floor = 0
    }
}
