// SPDX-License-Identifier: MIT
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
        try turn.take(cancellation) { () throws(SourceError) -> Revision in
            let base = try begin()
            defer { state.withLock { $0.isBuilding = false } }
            let revision = try make(base)
            guard !cancellation.isCancelled else { throw .cancelled }
            try publish(revision)
            return revision
        }
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

    private func publish(_ revision: Revision) throws(SourceError) {
        let isRetired = state.withLock { state in
            guard !state.isRetired else { return true }
            shared.filteredViews.forget(revision: state.revision.number)
            state.revision = revision
            state.updatedAt = .now
            return false
        }
        guard !isRetired else { throw .sourceNotFound(name) }
        observers.tell()
        MemoryTrim.run()
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
