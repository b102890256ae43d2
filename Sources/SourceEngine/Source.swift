// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import ImageStore
import Synchronization
import SystemSupport

/// One named set of points: its options and its current revision.
///
/// Safe from any thread. A reader takes `revision` and keeps it while it answers, so readers never wait for
/// a change. Changes happen one after another. Each builds a complete revision before it is published.
///
/// What a source does is in three parts: `Source+Change.swift` makes and publishes revisions,
/// `Source+Storage.swift` keeps them on disk, and `Source+Maintenance.swift` works in the background.
public final class Source: Sendable {
    public let name: SourceName
    package let shared: SharedState
    let state: Mutex<State>
    /// Held by the one change that is being made.
    let lock = FairLock()
    /// The number of `revision`, for holders that must not keep the source's data in memory.
    package let current: CurrentRevision
    package let observers = SourceObservers()
    /// Observers of the position of the log that the source follows.
    package let positionObservers = SourceObservers()
    /// The streams that apply logs, and what they did.
    let feeds = Feeds()
    /// Work in the background.
    package let jobs = SourceJobs()
    /// How many changes are being made or wait for another. Work in the background gives way to them.
    let changeCount = Atomic<Int>(0)

    /// Where a source is in its life.
    package enum Life: Sendable {
        /// Its files are being read. Only the changes in its journals are made.
        case opening
        case serving
        /// Its data are unavailable. They are read again if the machine recovers or older files are intact.
        case faulted(StateFault)
        /// It was deleted. Queries that run finish with the data they began with.
        case retired
    }

    struct State {
        var life: Life
        var identity: SourceIdentity
        /// Where the source is kept; nil: nowhere.
        var files: SourceFiles?
        var revision: Revision
        var updatedAt: Timestamp
        /// A further remark about the files; nil if there is none.
        var note: String?
        /// How the source follows its table; nil if it follows none.
        var replication: ReplicationStatus?
        /// The path of the image that others made and that the source reads; nil if its data are its own.
        var image: String?
        /// Whether the files lack the current data. The next change is then stored by a snapshot.
        var isUnkept = false
        var compaction = Compaction()
        /// A moment, in milliseconds since 1970, before which no feature was inserted; nil if unknown.
        var oldest: Int64?

        /// The number of the current revision; 0 if it does not answer.
        var answering: UInt64 { if case .serving = life { revision.number } else { 0 } }

        var isRetired: Bool { if case .retired = life { true } else { false } }
        var isServing: Bool { if case .serving = life { true } else { false } }
        var fault: StateFault? { if case .faulted(let fault) = life { fault } else { nil } }
    }

    package init(
        _ identity: SourceIdentity, _ revision: Revision, updatedAt: Timestamp, files: SourceFiles?,
        shared: SharedState, life: Life = .serving, note: String? = nil, image: String? = nil
    ) {
        name = identity.name
        self.shared = shared
        let state = State(
            life: life, identity: identity, files: files, revision: revision, updatedAt: updatedAt, note: note,
            image: image)
        current = CurrentRevision(state.answering)
        self.state = Mutex(state)
    }

    /// The user whose limits this source counts towards; nil if none.
    public var owner: UInt32? { state.withLock { $0.identity.owner } }

    public var createdAt: Timestamp { state.withLock { $0.identity.createdAt } }

    package var updatedAt: Timestamp { state.withLock { $0.updatedAt } }

    /// Where the source is kept; nil: nowhere.
    package var files: SourceFiles? { state.withLock { $0.files } }

    /// The current data.
    public var revision: Revision { state.withLock { $0.revision } }

    /// The current data; throws if the source is unavailable or its data are known to be damaged.
    public func intactRevision() throws(SourceError) -> Revision {
        let (revision, life) = state.withLock { ($0.revision, $0.life) }
        switch life {
        case .faulted(let fault): throw SourceError(fault, of: name)
        case .opening: throw .unavailable(name, Self.isBeingRead)
        case .serving, .retired: if revision.isDamaged { throw reportDamage() }
        }
        return revision
    }

    static let isBeingRead = "its files are still being read after the start"

    /// Throws if the data are known to be damaged. To be called before an answer is written and again before it
    /// is sent, since pages of a file are verified as they are read.
    ///
    /// - Parameter read: the revision that the answer is made from, if that may not be the current one.
    public func checkIntact(_ read: Revision? = nil) throws(SourceError) {
        // The revision is the current one, the source has no fault, and all that was read was good.
        if let read, current.isStill(read.number), !read.isDamaged { return }
        let (fault, isDamaged) = state.withLock { ($0.fault, $0.revision.isDamaged) }
        if let fault { throw SourceError(fault, of: name) }
        if isDamaged { throw reportDamage() }
        if let read, read.isDamaged {
            throw .unavailable(name, "the data were replaced meanwhile and can no longer be read; try again")
        }
    }

    /// Whether the source's files are still being read. Then it answers nothing.
    public var isLoading: Bool { state.withLock { if case .opening = $0.life { true } else { false } } }

    /// Whether the source has been deleted.
    public var isRetired: Bool { state.withLock { $0.isRetired } }

    /// Why the source's data are unavailable; nil if they are not.
    package var fault: StateFault? { state.withLock { $0.fault } }

    /// How the source follows its table; nil if it follows none. If it does, only the feed changes its data.
    public var replication: ReplicationStatus? {
        get { state.withLock { $0.replication } }
        set { state.withLock { $0.replication = newValue } }
    }

    /// The source's current description.
    public var description: SourceDescription {
        let isBuilding = changeCount.load(ordering: .relaxed) > 0
        let (state, revision) = state.withLock { ($0, $0.revision) }
        return SourceDescription(
            name, state, revision, isBuilding: isBuilding, feeds: feeds.statuses(of: revision.logs))
    }

    /// The description of the source or of one of its views.
    public func description(of name: SourceReference) throws(SourceError) -> SourceDescription {
        var description = description
        guard name.view != nil else { return description }
        if let fault = description.fault { throw SourceError(fault, of: self.name) }
        guard !description.isLoading else { throw .unavailable(self.name, Self.isBeingRead) }
        description.revision = try description.revision.read(by: name)
        return description
    }

    /// The source's description as of a revision that a change has just made.
    package func description(of revision: Revision) -> SourceDescription {
        let state = state.withLock { $0 }
        return SourceDescription(
            name, state, revision, isBuilding: false, feeds: feeds.statuses(of: revision.logs))
    }

    /// Makes the data unavailable; false if they were already, or the source has been deleted.
    package func fail(_ fault: StateFault) -> Bool {
        state.withLock { state in
            guard state.fault == nil, !state.isRetired else { return false }
            state.life = .faulted(fault)
            current.set(0)
            return true
        }
    }

    /// Takes over the data and files of a source that was opened. The source must not be served elsewhere.
    ///
    /// The caller holds the change lock, or the source is `opening`.
    ///
    /// - Returns: false if this source was deleted meanwhile.
    package func adopt(_ opened: Source) -> Bool {
        let found = opened.state.withLock { $0 }
        let isRetired = state.withLock { state in
            guard !state.isRetired else { return true }
            forgetFilters(of: state.revision)
            let replication = state.replication
            state = found
            if case .opening = found.life { state.life = .serving }
            state.replication = replication
            current.set(state.answering)
            return false
        }
        guard !isRetired else { return false }
        observers.notify()
        positionObservers.notify()
        shared.memory.fitPages()
        return true
    }

    /// Marks the source as deleted. No change succeeds afterwards.
    package func retire() {
        state.withLock { state in
            state.life = .retired
            current.set(0)
            forgetFilters(of: state.revision)
        }
        observers.notify()
        positionObservers.notify()
    }

    private func forgetFilters(of revision: Revision) {
        shared.filters.forget(revision: revision.number)
        shared.filters.forget(lineage: revision.store.lineage)
    }
}
