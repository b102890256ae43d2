// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

/// One named set of points: its options and its current revision.
///
/// Safe from any thread. A reader takes `revision` and keeps it while it answers, so readers never wait for
/// a change. Changes happen one after another. Each builds a complete revision before it is published.
public final class Source: Sendable {
    public let name: SourceName
    /// The user whose limits this source counts towards; nil if none.
    public let owner: UInt32?
    public let createdAt: Timestamp
    package let shared: SharedState
    /// Where the source is kept; nil: nowhere.
    package let files: SourceFiles?
    private let state: Mutex<State>
    private let lock = FairLock()
    /// The number of `revision`, for holders that must not keep the source's data in memory.
    package let current: CurrentRevision
    package let observers = SourceObservers()
    /// Observers of the position of the log that the source follows.
    package let positionObservers = SourceObservers()
    /// Writes the source's snapshots and retries reading its files, one job after another. Each source has
    /// its own queue, since its disk may hang.
    package let background = DispatchQueue(label: "snapshots", qos: .utility)
    /// Removes expired features without waiting for a snapshot.
    let expiring = DispatchQueue(label: "expiry", qos: .utility)
    /// The changes of the source, for work in the background that gives way to them.
    let demand = ChangeDemand()

    private struct State {
        var revision: Revision
        var updatedAt: Timestamp
        var isBuilding = false
        var isRetired = false
        /// For each update since a compaction began, the rows that it changed; nil if no compaction is
        /// running.
        var updatesMeanwhile: [[Int]]?
        /// The size of the delta at which the next compaction begins, if that is more than usual.
        var compactionFloor = 0
        /// Whether the source's files are still being read.
        var isLoading = false
        /// Why the source's data are unavailable; nil if they are not.
        var fault: StateFault?
        /// A further remark about its files; nil if there is none.
        var note: String?
        var isSaving = false
        var isExpiring = false
        var isRetrying = false
        /// Whether the files lack the current data. The next change is then stored by a snapshot.
        var isUnkept = false
        /// How the source follows its table; nil if it follows none.
        var replication: ReplicationStatus?
        /// A moment, in milliseconds since 1970, before which no feature was inserted; nil if unknown.
        var oldest: Int64?

        /// The number of the current revision; 0 if there is none.
        var answering: UInt64 { isRetired || fault != nil ? 0 : revision.number }
    }

    /// Creates a source without data, in memory only.
    package convenience init(
        name: SourceName, options: SourceOptions, owner: UInt32? = nil, shared: SharedState
    ) throws(SourceError) {
        let revision = try Revision.empty(options: options, shared: shared)
        let identity = SourceIdentity(name: name, owner: owner, createdAt: .now)
        self.init(identity, revision, updatedAt: identity.createdAt, files: nil, shared: shared)
    }

    /// Whether this source only recovers data for another one that owns the files. It must do nothing in the
    /// background, because changes of the other one would not wait for it.
    let isStandIn: Bool

    /// - Parameters:
    ///   - isLoading: whether another source, which has the data, will take this one's place.
    package init(
        _ identity: SourceIdentity, _ revision: Revision, updatedAt: Timestamp, files: SourceFiles?,
        shared: SharedState, fault: StateFault? = nil, note: String? = nil, isStandIn: Bool = false,
        isLoading: Bool = false
    ) {
        self.isStandIn = isStandIn
        name = identity.name
        owner = identity.owner
        createdAt = identity.createdAt
        self.shared = shared
        self.files = files
        let state = State(
            revision: revision, updatedAt: updatedAt, isLoading: isLoading, fault: fault,
            note: note)
        current = CurrentRevision(state.answering)
        self.state = Mutex(state)
    }

    /// The current data.
    public var revision: Revision { state.withLock { $0.revision } }

    /// The current data; throws if the source is unavailable or its data are known to be damaged.
    public func intactRevision() throws(SourceError) -> Revision {
        let (revision, fault, isLoading) = state.withLock { ($0.revision, $0.fault, $0.isLoading) }
        if let fault { throw SourceError(fault, of: name) }
        if isLoading { throw .unavailable(name, Self.isBeingRead) }
        if revision.isDamaged { throw reportDamage() }
        return revision
    }

    /// Whether the source's files are still being read. Then it answers nothing, and another source with the
    /// data will take its place.
    public var isLoading: Bool { state.withLock { $0.isLoading && !$0.isRetired } }

    private static let isBeingRead = "its files are still being read after the start"

    /// The source's current description.
    public var description: SourceDescription {
        state.withLock { state in
            SourceDescription(
                source: name, revision: state.revision, isBuilding: state.isBuilding,
                isLoading: state.isLoading, createdAt: createdAt, updatedAt: state.updatedAt,
                fault: state.fault, note: state.note,
                replication: state.replication)
        }
    }

    /// The source's description as of a revision.
    package func description(of revision: Revision) -> SourceDescription {
        state.withLock { state in
            SourceDescription(
                source: name, revision: revision, isBuilding: false, isLoading: false, createdAt: createdAt,
                updatedAt: state.updatedAt, fault: state.fault, note: state.note,
                replication: state.replication)
        }
    }

    /// How a change is stored on disk.
    package enum Keeping {
        /// By a snapshot of the new revision, which need not follow from the old one.
        case snapshot
        /// By a journal record of the call.
        case record(JournalRecord)
        /// Not yet: the revision is published at once, and the next change, or `keepMark`, stores it. For
        /// data that can be fetched again. The source's first data are stored before, if possible.
        case later
    }

    /// A revision to be published, and how it is stored.
    package struct Change {
        package let revision: Revision
        package var keeping: Keeping
        /// Whether it replaces all data, so that faults of the old data no longer matter.
        package var replacesData = false
        /// The rows whose features it changed or added; nil if it does not follow from the previous revision.
        package var changedPlaces: [Int]?
        /// The moment of the change.
        package var moment = Timestamp.now
        package var log = NextLog.none
        /// Whether changes may be worked into a whole after it. After large changes that takes longer than
        /// others of their size take to come.
        package var isCompacted = true
    }

    /// The log that the data of a new revision follow.
    package enum NextLog {
        /// None: the change did not come from the log.
        case none
        /// The same log and position as the previous revision: the data are the same.
        case same
        case at(FollowedLog)
    }

    /// Makes a new revision from the current one, stores it if the source has files, and publishes it.
    ///
    /// Changes of one source wait for each other here, so `make` sees the newest revision and its result
    /// follows from it. If this throws, nothing has changed. Blocks: only for threads of the pool.
    package func change(
        _ cancellation: Cancellation, _ make: (Revision) throws(SourceError) -> Change
    ) throws(SourceError) -> Revision {
        demand.begin()
        defer { demand.end() }
        var isCompacted = true
        let revision = try lock.withLock(cancellation) { () throws(SourceError) -> Revision in
            let base = try begin()
            defer { state.withLock { $0.isBuilding = false } }
            let made = Result { () throws(SourceError) in try make(base) }
            // Text and index are read meanwhile, so the result, or the error, may come from damaged ones.
            guard !base.isDamaged else { throw reportDamage() }
            let change = try made.get()
            try change.revision.store.checkWritten()
            guard !cancellation.isCancelled else { throw .cancelled }
            if case .at(let log) = change.log { change.revision.follow(log) }
            let kept = try keep(change)
            if change.replacesData { state.withLock { $0.note = nil } }
            try publish(kept, changing: change.changedPlaces, at: change.moment, log: change.log)
            isCompacted = change.isCompacted
            return kept
        }
        if isCompacted { compactIfGrown(revision) }
        prepareIdentifiers(of: revision)
        if let files, files.wantsSnapshot(shared.limits), !isUnkept { saveLater() }
        return revision
    }

    private var isUnkept: Bool { state.withLock { $0.isUnkept } }

    /// Builds the index by id ahead of time, so that the first large update or the first search does not wait
    /// for it.
    private func prepareIdentifiers(of revision: Revision) {
        guard revision.pointCount >= Self.manyPoints else { return }
        revision.prepareIdentifiers(Cancellation { [weak self] in self?.revision !== revision })
    }

    /// Fewer points are clustered too fast to be worth a report.
    private static let manyPoints = 50_000

    /// - Returns: the revision of the change. If it is in a snapshot now, it reads its features' text from
    ///   there.
    private func keep(_ change: Change) throws(SourceError) -> Revision {
        guard let files else { return change.revision }
        if let directory = shared.directory, directory.hasLeftovers { directory.takeBackLeftovers() }
        switch change.keeping {
        case .later:
            // Nothing would be left after a kill if there were no earlier data. If the disk refuses, the copy
            // answers anyway.
            if !revision.hasData,
                let kept = try? keepWhole(change.revision, files, at: change.moment, loss: nil)
            {
                return kept
            }
            state.withLock { $0.isUnkept = true }
            return change.revision
        case .snapshot:
            let loss = change.replacesData ? nil : files.loss
            return try keepWhole(change.revision, files, at: change.moment, loss: loss)
        case .record where isUnkept || change.revision.isShortOfMemory:
            return try keepWhole(change.revision, files, at: change.moment, loss: nil)
        case .record(let record):
            var mark: LogMark?
            if case .at(let log) = change.log { mark = log.mark }
            try files.append(record, at: change.moment, making: change.revision, mark: mark)
            if change.replacesData { files.forgetLoss() }
            return change.revision
        }
    }

    /// Makes the current revision read from a snapshot's image, unless its data have been replaced. The
    /// caller must hold the source's lock.
    ///
    /// - Parameters:
    ///   - base: what the snapshot was written of.
    ///   - moved: the same data on the image.
    package func move(from base: Revision, to moved: Revision) {
        guard base !== moved else { return }
        state.withLock { state in
            guard state.revision.store.plainBase === base.store.plainBase else { return }
            let store = state.revision.store.moved(to: moved.store)
            // What was changed meanwhile is not in the snapshot.
            let isSame = state.revision.view === base.view
            state.revision = state.revision.with(
                store, isSame ? moved.view : nil, identifiers: isSame ? moved.readyIdentifiers : nil,
                codes: isSame ? moved.readyFeatureCodes : nil)
        }
        shared.memory.fitPages()
    }

    /// - Returns: the revision. If it is plain, it reads its features' text from the snapshot.
    private func keepWhole(
        _ revision: Revision, _ files: SourceFiles, at moment: Timestamp, loss: String?
    ) throws(SourceError) -> Revision {
        // A snapshot holds a plain revision, without a delta.
        let spill = DraftMaker(files, shared)?.spill
        let whole =
            try revision.isPlain
            ? revision : revision.rebuilt(from: revision.store.plain(spill: spill), owner: owner)
        whole.follow(revision.log)
        let kept = try files.replace(with: whole, updatedAt: moment, loss: loss)
        state.withLock { $0.isUnkept = false }
        return whole === revision ? kept : revision
    }

    /// Stores the mark that the data have reached, and the data if they are not stored yet. The caller must
    /// hold the source's lock.
    package func keepProgress() throws(SourceError) {
        let revision = revision
        guard let files, let log = revision.log else { return }
        if isUnkept {
            let kept = try keepWhole(revision, files, at: updatedAt, loss: nil)
            return move(from: revision, to: kept)
        }
        try files.append(.progress, at: updatedAt, making: revision, mark: log.mark)
    }

    /// Runs a body with the source's lock held: no change comes between.
    package func withChangeLock<Result>(
        _ cancellation: Cancellation = .never, _ body: () throws(SourceError) -> Result
    ) throws(SourceError) -> Result {
        try lock.withLock(cancellation, body)
    }

    private func begin() throws(SourceError) -> Revision {
        let base = state.withLock { state -> Result<Revision, SourceError> in
            guard !state.isRetired else { return .failure(.sourceNotFound(name)) }
            if let fault = state.fault { return .failure(SourceError(fault, of: name)) }
            guard !state.isLoading else { return .failure(.unavailable(name, Self.isBeingRead)) }
            state.isBuilding = true
            return .success(state.revision)
        }
        return try base.get()
    }

    /// Publishes a revision.
    ///
    /// - Parameters:
    ///   - places: the rows whose features changed; nil if all data were replaced, so that a running
    ///     compaction has become useless.
    ///   - moment: nil if the features have not changed.
    package func publish(
        _ revision: Revision, changing places: [Int]? = nil, at moment: Timestamp?, log: NextLog = .same
    ) throws(SourceError) {
        let isRetired = state.withLock { state in
            guard !state.isRetired else { return true }
            let old = state.revision
            if case .same = log { revision.follow(old.log) }
            shared.filters.forget(revision: old.number)
            if old.store.lineage != revision.store.lineage {
                shared.filters.forget(lineage: old.store.lineage)
            }
            state.revision = revision
            current.set(state.answering)
            if let places {
                state.updatesMeanwhile?.append(places)
            } else {
                state.updatesMeanwhile = nil
                state.compactionFloor = 0
                state.oldest = nil
            }
            if let moment { state.updatedAt = moment }
            return false
        }
        guard !isRetired else { throw .sourceNotFound(name) }
        observers.tell()
        positionObservers.tell()
        if revision.isPlain { Allocator.trim() }
        shared.memory.fitPages()
    }

    /// How the source follows its table; nil if it follows none. If it does, only the feed changes its data.
    public var replication: ReplicationStatus? {
        get { state.withLock { $0.replication } }
        set { state.withLock { $0.replication = newValue } }
    }

    package var updatedAt: Timestamp { state.withLock { $0.updatedAt } }

    /// Throws if the data are known to be damaged. To be called before an answer is written and again before
    /// it is sent, since text is verified as it is read, and so is an index that lies in a file.
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

    /// Marks the source's data as unavailable; false if they were already.
    package func setFault(_ fault: StateFault?, note: String? = nil) -> Bool {
        state.withLock { state in
            defer {
                (state.fault, state.note) = (fault, note)
                current.set(state.answering)
            }
            return state.fault == nil
        }
    }

    /// Why the source's data are unavailable; nil if they are not.
    package var fault: StateFault? { state.withLock { $0.fault } }

    /// Claims the writing of a snapshot; false if one is being written.
    package func beginSaving() -> Bool {
        state.withLock { state in
            guard !isStandIn, !state.isSaving, !state.isRetired, state.fault == nil else { return false }
            state.isSaving = true
            return true
        }
    }

    package func endSaving() { state.withLock { $0.isSaving = false } }

    /// Claims the removal of expired features; false if it is under way.
    func beginExpiring() -> Bool {
        state.withLock { state in
            guard !state.isExpiring, !state.isRetired else { return false }
            state.isExpiring = true
            return true
        }
    }

    func endExpiring() { state.withLock { $0.isExpiring = false } }

    /// Claims the retry of reading the files; false if it is under way.
    func beginRetrying() -> Bool {
        state.withLock { state in
            guard !state.isRetrying, !state.isRetired, state.fault?.kind == .machine else { return false }
            state.isRetrying = true
            return true
        }
    }

    func endRetrying() { state.withLock { $0.isRetrying = false } }

    /// A moment, in milliseconds since 1970, before which no feature was inserted; nil if unknown.
    package var oldest: Int64? { state.withLock { $0.oldest } }

    /// Sets `oldest`, unless the revision is no longer the current one.
    package func setOldest(_ moment: Int64, in revision: Revision) {
        state.withLock { if $0.revision === revision { $0.oldest = moment } }
    }

    /// Begins a compaction and records updates from now on. Returns the revision to compact; nil if
    /// a compaction is running or there is no delta.
    package func beginCompaction() -> Revision? {
        state.withLock { state in
            guard !isStandIn, state.updatesMeanwhile == nil, !state.isRetired, !state.revision.isPlain else {
                return nil
            }
            state.updatesMeanwhile = []
            return state.revision
        }
    }

    /// Whether the compaction is still useful: the data have not been replaced.
    package var isCompacting: Bool { state.withLock { !$0.isRetired && $0.updatesMeanwhile != nil } }

    /// The current revision, and the updates since the last call; nil if the data have been replaced.
    package func takeMeanwhile() -> (Revision, [[Int]])? {
        state.withLock { state in
            guard !state.isRetired, let updates = state.updatesMeanwhile else { return nil }
            state.updatesMeanwhile = []
            return (state.revision, updates)
        }
    }

    /// The size of the delta at which the next compaction begins, if that is more than usual.
    package var compactionFloor: Int {
        get { state.withLock { $0.compactionFloor } }
        set { state.withLock { $0.compactionFloor = newValue } }
    }

    /// Ends a failed compaction, which is retried when the delta reaches `floor`. If the data have been
    /// replaced, there is nothing to retry.
    package func giveUpCompaction(until floor: Int) {
        state.withLock { state in
            state.compactionFloor = state.updatesMeanwhile == nil ? 0 : floor
            state.updatesMeanwhile = nil
        }
    }

    /// Whether the source has been deleted.
    public var isRetired: Bool { state.withLock { $0.isRetired } }

    /// Marks the source as deleted. No change succeeds afterwards.
    package func retire() {
        state.withLock { state in
            state.isRetired = true
            current.set(state.answering)
            shared.filters.forget(revision: state.revision.number)
            shared.filters.forget(lineage: state.revision.store.lineage)
        }
        observers.tell()
        positionObservers.tell()
    }
}
