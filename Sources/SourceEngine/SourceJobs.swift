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

    private struct State {
        var running: Set<Kind> = []
        /// How many deletions keep the files from being read again.
        var holds = 0
    }

    private let state = Mutex(State())
    /// Held while the files are being read again.
    private let reopening = Mutex(())
    /// Each source has its own queue, since its disk may hang.
    private let queue = DispatchQueue(label: "source", qos: .utility, attributes: .concurrent)

    /// Runs work, unless work of this kind waits or runs. Never waits.
    ///
    /// - Parameter next: called once it has ended, to begin what has waited for it.
    package func run(
        _ kind: Kind, _ body: @escaping @Sendable () -> Void, then next: @escaping @Sendable () -> Void = {}
    ) {
        guard state.withLock({ $0.running.insert(kind).inserted }) else { return }
        queue.async(flags: kind == .reopen ? .barrier : []) { [self] in
            if kind == .reopen { reopen(body) } else { body() }
            state.withLock { _ = $0.running.remove(kind) }
            next()
        }
    }

    private func reopen(_ body: () -> Void) {
        reopening.withLock { _ in
            if !isHeld { body() }
        }
    }

    /// Whether work of some of these kinds waits or runs. Snapshots, checkpoints and compactions take a processor each for
    /// seconds, and with two of them at work changes would come late. So most of them begin later while others run, but not
    /// much later.
    func isRunning(_ kinds: Kind...) -> Bool { state.withLock { !$0.running.isDisjoint(with: kinds) } }

    /// Keeps the files from being read again, and waits for a reading that has begun.
    ///
    /// Once a source has been deleted, the files under its name may be those of another one.
    func holdReopening() {
        state.withLock { $0.holds += 1 }
        reopening.withLock { _ in }
    }

    func releaseReopening() { state.withLock { $0.holds -= 1 } }

    /// Whether the source is being deleted, or has been.
    var isHeld: Bool { state.withLock { $0.holds > 0 } }

    /// Waits until no work runs; for tests.
    package func wait() {
        repeat { queue.sync(flags: .barrier) {} } while state.withLock { !$0.running.isEmpty }
    }
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
