// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// One named set of points: its options and the revision that answers now.
///
/// Safe from any thread. Readers take `revision` and keep it for as long as they answer; nobody waits for
/// a change. Changes happen one after another, each building a whole revision before it is swapped in.
public final class Source: Sendable {
    public let name: SourceName
    /// The user whose limits this source counts for; nil: nobody's.
    public let owner: UInt32?
    public let createdAt: Timestamp
    let shared: SharedState
    private let state: Mutex<State>
    private let turn = Turn()
    let observers = SourceObservers()

    private struct State {
        var revision: Revision
        var updatedAt: Timestamp
        var isBuilding = false
        var isRetired = false
        /// Updates that came while changes are worked into a whole; nil while they are not.
        var updatesMeanwhile: [FeatureUpdate]?
        /// How large changes must have grown before that is tried again after it failed.
        var compactionFloor = 0
    }

    /// A source without data.
    init(name: SourceName, options: SourceOptions, owner: UInt32? = nil, shared: SharedState)
        throws(SourceError)
    {
        self.name = name
        self.owner = owner
        self.shared = shared
        createdAt = .now
        let revision = try Revision.empty(options: options, shared: shared)
        state = Mutex(State(revision: revision, updatedAt: createdAt))
    }

    /// The data that answer now.
    public var revision: Revision { state.withLock { $0.revision } }

    /// What the source is and holds now.
    public var description: SourceDescription {
        state.withLock { state in
            SourceDescription(
                source: name, revision: state.revision, isBuilding: state.isBuilding,
                createdAt: createdAt, updatedAt: state.updatedAt)
        }
    }

    /// What the source was when a change had made it this revision.
    func description(of revision: Revision) -> SourceDescription {
        state.withLock { state in
            SourceDescription(
                source: name, revision: revision, isBuilding: false, createdAt: createdAt,
                updatedAt: state.updatedAt)
        }
    }

    /// Makes a new revision from the one of now and swaps it in.
    ///
    /// Changes of one source wait for each other here, so `make` sees the newest revision and what it
    /// returns follows it. Where `make` throws, nothing has changed. Blocks: only for threads of the pool.
    func change(
        _ cancellation: Cancellation, _ make: (Revision) throws(SourceError) -> Revision
    ) throws(SourceError) -> Revision {
        try change(cancellation) { (base) throws(SourceError) -> Change in Change(revision: try make(base)) }
    }

    /// A revision to be swapped in, and the update of single features that made it.
    struct Change {
        let revision: Revision
        var update: FeatureUpdate?
    }

    func change(
        _ cancellation: Cancellation, _ make: (Revision) throws(SourceError) -> Change
    ) throws(SourceError) -> Revision {
        let revision = try turn.take(cancellation) { () throws(SourceError) -> Revision in
            let base = try begin()
            defer { state.withLock { $0.isBuilding = false } }
            let change = try make(base)
            guard !cancellation.isCancelled else { throw .cancelled }
            try publish(change)
            return change.revision
        }
        compactIfGrown(revision)
        return revision
    }

    private func begin() throws(SourceError) -> Revision {
        let base: Revision? = state.withLock { state in
            guard !state.isRetired else { return nil }
            state.isBuilding = true
            return state.revision
        }
        guard let base else { throw .sourceNotFound(name) }
        return base
    }

    private func publish(_ change: Change) throws(SourceError) {
        let isRetired = state.withLock { state in
            guard !state.isRetired else { return true }
            shared.filteredViews.forget(revision: state.revision.number)
            state.revision = change.revision
            if let update = change.update {
                state.updatesMeanwhile?.append(update)
            } else {
                // Data that are others altogether: what is being worked in is not needed any more.
                state.updatesMeanwhile = nil
            }
            state.updatedAt = .now
            return false
        }
        guard !isRetired else { throw .sourceNotFound(name) }
        observers.tell()
        if change.revision.isPlain { MemoryTrim.run() }
    }

    /// Whether the source has been deleted.
    public var isRetired: Bool { state.withLock { $0.isRetired } }

    /// After this no change succeeds.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            shared.filteredViews.forget(revision: state.revision.number)
        }
        observers.tell()
    }
}

/// Working changes into a whole, beside queries and further updates.
///
/// Copying and searching the changes makes updates slower as they grow; so now and then the features are
/// clustered as a whole, off to the side, and updates that came meanwhile are followed on that. The features
/// are the same, but clusters get the ids of a fresh load; so it is a new revision.
extension Source {
    private func compactIfGrown(_ revision: Revision) {
        let growth = revision.growth
        let most = min(shared.limits.changesKept, max(8192, revision.pointCount / 64))
        guard growth > most, state.withLock({ growth > $0.compactionFloor }) else { return }
        guard let base = beginCompaction() else { return }
        DispatchQueue.global(qos: .utility).async { self.compact(base) }
    }

    /// Works changes in at once; for tests.
    func compact() {
        if let base = beginCompaction() { compact(base) }
    }

    /// The revision to begin with; nil where that is under way or there is nothing to be done.
    private func beginCompaction() -> Revision? {
        state.withLock { state in
            guard state.updatesMeanwhile == nil, !state.isRetired, !state.revision.isPlain else { return nil }
            state.updatesMeanwhile = []
            return state.revision
        }
    }

    private func compact(_ base: Revision) {
        let cancellation = Cancellation { [self] in
            state.withLock { $0.updatesMeanwhile == nil || $0.isRetired }
        }
        do throws(SourceError) {
            let maker = RevisionMaker(
                options: base.options, shared: shared, owner: owner, cancellation: cancellation)
            let whole = try maker.make(base.store.plain())
            try turn.take(cancellation) { () throws(SourceError) in
                guard let updates = state.withLock({ $0.updatesMeanwhile }) else { return }
                var revision = whole
                for update in updates { revision = try update.apply(to: revision, owner: owner, .never).0 }
                try publish(Change(revision: revision))
            }
        } catch {
            // The changes answer as before; when they have grown as much again it is tried again.
            state.withLock { state in
                state.compactionFloor = 2 * base.growth
                state.updatesMeanwhile = nil
            }
        }
    }
}

extension Revision {
    /// How much lies beside what was built as a whole, in nodes and features.
    fileprivate var growth: Int { view.index.overlaySize + store.changeCount }
}
