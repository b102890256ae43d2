// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

/// One named set of points: its options and the revision that answers now.
///
/// Safe from any thread. Readers take `revision` and keep it for as long as they answer; nobody waits for
/// a change. Changes happen one after another, each building a whole revision before it is swapped in.
public final class Source: Sendable {
    public let name: SourceName
    /// The user whose limits this source counts for; nil: nobody's.
    public let owner: UInt32?
    public let createdAt: Timestamp
    package let shared: SharedState
    /// If the source is kept; nil: nowhere.
    package let files: SourceFiles?
    private let state: Mutex<State>
    private let lock = FairLock()
    /// What `revision` says, for those who must not keep the source's data.
    package let current: CurrentRevision
    package let observers = SourceObservers()
    /// Who waits for a position of the log that the source follows.
    package let positionObservers = SourceObservers()
    /// Writes the source's snapshots and looks for older data, one after another. Each source has its own, since its disk
    /// may hang.
    package let background = DispatchQueue(label: "snapshots", qos: .utility)
    /// Takes out features that are too old, without waiting for a snapshot.
    let expiring = DispatchQueue(label: "expiry", qos: .utility)

    private struct State {
        var revision: Revision
        var updatedAt: Timestamp
        var isBuilding = false
        var isRetired = false
        /// By update that came while changes are worked into a whole: the places it changed; nil while they are
        /// not.
        var updatesMeanwhile: [[Int]]?
        /// How large changes must have grown before they are worked in, if that is more than usual.
        var compactionFloor = 0
        /// Why the source's data are not to be had.
        var fault: StateFault?
        /// What else is to be reported about its files.
        var note: String?
        var isSaving = false
        var isExpiring = false
        var isRetrying = false
        /// Whether the files do not have the data that answer; then a snapshot is what keeps the next change.
        var isUnkept = false
        /// How the source follows its table; nil if it follows none.
        var replication: ReplicationStatus?
        /// No feature was put in before this moment; nil if that is not known.
        var oldest: Int64?

        /// The number of the revision that answers; 0 if none does.
        var answering: UInt64 { isRetired || fault != nil ? 0 : revision.number }
    }

    /// A source that is kept nowhere, without data.
    package convenience init(
        name: SourceName, options: SourceOptions, owner: UInt32? = nil, shared: SharedState
    ) throws(SourceError) {
        let revision = try Revision.empty(options: options, shared: shared)
        let identity = SourceIdentity(name: name, owner: owner, createdAt: .now)
        self.init(identity, revision, updatedAt: identity.createdAt, files: nil, shared: shared)
    }

    /// Whether it only recovers data for another source, which has the same files: nothing of it may go on in the
    /// background, since changes of the other one would not wait for it.
    let isStandIn: Bool

    package init(
        _ identity: SourceIdentity, _ revision: Revision, updatedAt: Timestamp, files: SourceFiles?,
        shared: SharedState, fault: StateFault? = nil, note: String? = nil, isStandIn: Bool = false
    ) {
        self.isStandIn = isStandIn
        name = identity.name
        owner = identity.owner
        createdAt = identity.createdAt
        self.shared = shared
        self.files = files
        let state = State(revision: revision, updatedAt: updatedAt, fault: fault, note: note)
        current = CurrentRevision(state.answering)
        self.state = Mutex(state)
    }

    /// The data that answer now.
    public var revision: Revision { state.withLock { $0.revision } }

    /// What the source is and holds now.
    public var description: SourceDescription {
        state.withLock { state in
            SourceDescription(
                source: name, revision: state.revision, isBuilding: state.isBuilding,
                createdAt: createdAt, updatedAt: state.updatedAt, fault: state.fault, note: state.note,
                replication: state.replication)
        }
    }

    /// What the source was when a change had made it this revision.
    package func description(of revision: Revision) -> SourceDescription {
        state.withLock { state in
            SourceDescription(
                source: name, revision: revision, isBuilding: false, createdAt: createdAt,
                updatedAt: state.updatedAt, fault: state.fault, note: state.note,
                replication: state.replication)
        }
    }

    /// How a change is kept on disk.
    package enum Keeping {
        /// By a snapshot of the new revision, which may have nothing to do with the old.
        case snapshot
        /// By what the call said.
        case record(JournalRecord)
        /// Not yet: the revision answers at once, and the next change, or `keepMark`, keeps it. For data that can be had
        /// again.
        case later
    }

    /// A revision to be swapped in, and how it is kept.
    package struct Change {
        package let revision: Revision
        package var keeping: Keeping
        /// Whether it leaves nothing of the data before, so that nothing of them is missed any more.
        package var replacesData = false
        /// Places whose features it changed or added; nil if it has nothing to do with the one before.
        package var changedPlaces: [Int]?
        /// When it was made.
        package var moment = Timestamp.now
        package var log = NextLog.none
    }

    /// Which log the data of a new revision follow.
    package enum NextLog {
        /// None: somebody else changed them.
        case none
        /// That of the revision before, as far as that: the data are the same.
        case same
        case at(FollowedLog)
    }

    /// Makes a new revision from the current one, keeps it where the source is kept, and swaps it in.
    ///
    /// Changes of one source wait for each other here, so `make` sees the newest revision and what it
    /// returns follows it. Where this throws, nothing has changed. Blocks: only for threads of the pool.
    package func change(
        _ cancellation: Cancellation, _ make: (Revision) throws(SourceError) -> Change
    ) throws(SourceError) -> Revision {
        let revision = try lock.withLock(cancellation) { () throws(SourceError) -> Revision in
            let base = try begin()
            defer { state.withLock { $0.isBuilding = false } }
            let made = Result { () throws(SourceError) in try make(base) }
            // Text is checked as it is read, and what was made of it may be wrong, an error too.
            guard !base.store.isDamaged else { throw reportDamage() }
            let change = try made.get()
            try change.revision.store.checkWritten()
            guard !cancellation.isCancelled else { throw .cancelled }
            if case .at(let log) = change.log { change.revision.follow(log) }
            let kept = try keep(change)
            if change.replacesData { state.withLock { $0.note = nil } }
            try publish(kept, changing: change.changedPlaces, at: change.moment, log: change.log)
            return kept
        }
        compactIfGrown(revision)
        prepareIdentifiers(of: revision)
        readAhead(revision)
        if let files, files.wantsSnapshot, !isUnkept { saveLater() }
        return revision
    }

    private var isUnkept: Bool { state.withLock { $0.isUnkept } }

    /// Builds the id index ahead of time, so that the first update of many features, or the first search, does not wait for it.
    private func prepareIdentifiers(of revision: Revision) {
        guard revision.pointCount >= Self.manyPoints else { return }
        revision.prepareIdentifiers(Cancellation { [weak self] in self?.revision !== revision })
    }

    /// Reads features' text that lies in a file since this change, so that the first queries find it in memory.
    private func readAhead(_ revision: Revision) {
        guard revision.store.isPlain, let text = revision.store.text as? BlockText, !text.isAtHand else {
            return
        }
        background.async { [weak self] in
            text.readAhead { self?.revision.store.text !== text }
        }
    }

    /// Fewer take too little time to be worth a report.
    private static let manyPoints = 50_000

    /// - Returns: the change's revision; if a snapshot has it now, its features' text is read from there.
    private func keep(_ change: Change) throws(SourceError) -> Revision {
        guard let files else { return change.revision }
        if let directory = shared.directory, directory.hasLeftovers { directory.takeBackLeftovers() }
        switch change.keeping {
        case .later:
            state.withLock { $0.isUnkept = true }
            return change.revision
        case .snapshot:
            let loss = change.replacesData ? nil : files.loss
            return try keepWhole(change.revision, files, at: change.moment, loss: loss)
        case .record where isUnkept:
            return try keepWhole(change.revision, files, at: change.moment, loss: nil)
        case .record(let record):
            var mark: LogMark?
            if case .at(let log) = change.log { mark = log.mark }
            try files.append(record, at: change.moment, making: change.revision, mark: mark)
            if change.replacesData { files.forgetLoss() }
            return change.revision
        }
    }

    /// Reads the features' text from a file from now on, unless other data have come. To be called with the source's lock
    /// held.
    ///
    /// - Parameters:
    ///   - base: a plain store.
    ///   - moved: the same features with their text in the file.
    package func move(from base: FeatureStore, to moved: FeatureStore) {
        guard base !== moved else { return }
        state.withLock { state in
            guard state.revision.store.plainBase === base else { return }
            state.revision = state.revision.with(state.revision.store.moved(to: moved))
        }
    }

    /// - Returns: the revision; if it is plain, its features' text is read from the snapshot.
    private func keepWhole(
        _ revision: Revision, _ files: SourceFiles, at moment: Timestamp, loss: String?
    ) throws(SourceError) -> Revision {
        // A snapshot holds what was built as a whole.
        let spill = DraftMaker(files, shared)?.spill
        let whole =
            try revision.isPlain
            ? revision : revision.rebuilt(from: revision.store.plain(spill: spill), owner: owner)
        whole.follow(revision.log)
        let kept = try files.replace(with: whole, updatedAt: moment, loss: loss)
        state.withLock { $0.isUnkept = false }
        return whole === revision ? kept : revision
    }

    /// Keeps the mark that the data have reached, and the data too if that is still to be done. To be called with the
    /// source's lock held.
    package func keepProgress() throws(SourceError) {
        let revision = revision
        guard let files, let log = revision.log else { return }
        if isUnkept {
            let kept = try keepWhole(revision, files, at: updatedAt, loss: nil)
            return move(from: revision.store, to: kept.store)
        }
        try files.append(.progress, at: updatedAt, making: revision, mark: log.mark)
    }

    /// Runs a body with the source's lock held: no change comes between.
    package func inTurn<Result>(
        _ cancellation: Cancellation = .never, _ body: () throws(SourceError) -> Result
    ) throws(SourceError) -> Result {
        try lock.withLock(cancellation, body)
    }

    private func begin() throws(SourceError) -> Revision {
        let base = state.withLock { state -> Result<Revision, SourceError> in
            guard !state.isRetired else { return .failure(.sourceNotFound(name)) }
            if let fault = state.fault { return .failure(SourceError(fault, of: name)) }
            state.isBuilding = true
            return .success(state.revision)
        }
        return try base.get()
    }

    /// Swaps a revision in.
    ///
    /// - Parameters:
    ///   - places: where features are others than before; nil if the data are others altogether, so that
    ///     what is being worked in is not needed any more.
    ///   - moment: nil if the features are the same.
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
        if revision.isPlain { MemoryTrim.run() }
    }

    /// How the source follows its table; nil if it follows none. Only who follows it changes its data then.
    public var replication: ReplicationStatus? {
        get { state.withLock { $0.replication } }
        set { state.withLock { $0.replication = newValue } }
    }

    package var updatedAt: Timestamp { state.withLock { $0.updatedAt } }

    /// Refuses callers where the data are known not to be what was written; to be asked before an answer is
    /// made, and again before it is sent, since text is checked as it is read.
    ///
    /// - Parameter read: what the answer is made of, if that may not be the current revision.
    public func checkIntact(_ read: Revision? = nil) throws(SourceError) {
        let (fault, isDamaged) = state.withLock { ($0.fault, $0.revision.store.isDamaged) }
        if let fault { throw SourceError(fault, of: name) }
        if isDamaged { throw reportDamage() }
        if let read, read.store.isDamaged {
            throw .unavailable(name, "data that were replaced meanwhile can't be read; ask again")
        }
    }

    /// Marks the source as one whose data are not to be had; false where that was so already.
    package func setFault(_ fault: StateFault?, note: String? = nil) -> Bool {
        state.withLock { state in
            defer {
                (state.fault, state.note) = (fault, note)
                current.set(state.answering)
            }
            return state.fault == nil
        }
    }

    /// Why the source's data are not to be had; nil if they are.
    package var fault: StateFault? { state.withLock { $0.fault } }

    /// Whether nobody writes a snapshot yet; then the caller does.
    package func beginSaving() -> Bool {
        state.withLock { state in
            guard !isStandIn, !state.isSaving, !state.isRetired, state.fault == nil else { return false }
            state.isSaving = true
            return true
        }
    }

    package func endSaving() { state.withLock { $0.isSaving = false } }

    /// Whether no features are being taken out for their age yet; then the caller does it.
    func beginExpiring() -> Bool {
        state.withLock { state in
            guard !state.isExpiring, !state.isRetired else { return false }
            state.isExpiring = true
            return true
        }
    }

    func endExpiring() { state.withLock { $0.isExpiring = false } }

    /// Whether nobody tries to read the files again yet; then the caller does it.
    func beginRetrying() -> Bool {
        state.withLock { state in
            guard !state.isRetrying, !state.isRetired, state.fault?.kind == .machine else { return false }
            state.isRetrying = true
            return true
        }
    }

    func endRetrying() { state.withLock { $0.isRetrying = false } }

    /// A moment, in milliseconds since 1970, before which no feature was put in; nil if none is known.
    package var oldest: Int64? { state.withLock { $0.oldest } }

    /// Notes the above of a revision, unless another answers by now.
    package func setOldest(_ moment: Int64, in revision: Revision) {
        state.withLock { if $0.revision === revision { $0.oldest = moment } }
    }

    /// Begins to gather updates while changes are worked into a whole; the revision to be worked on, nil if
    /// that is under way or there is nothing to be done.
    package func beginCompaction() -> Revision? {
        state.withLock { state in
            guard !isStandIn, state.updatesMeanwhile == nil, !state.isRetired, !state.revision.isPlain else {
                return nil
            }
            state.updatesMeanwhile = []
            return state.revision
        }
    }

    /// Whether updates are gathered still: no other data have come instead.
    package var isCompacting: Bool { state.withLock { !$0.isRetired && $0.updatesMeanwhile != nil } }

    /// The current revision, and the updates gathered since this was last asked; nil if other data have come.
    package func takeMeanwhile() -> (Revision, [[Int]])? {
        state.withLock { state in
            guard !state.isRetired, let updates = state.updatesMeanwhile else { return nil }
            state.updatesMeanwhile = []
            return (state.revision, updates)
        }
    }

    /// How large changes must have grown before they are worked in, if that is more than usual.
    package var compactionFloor: Int {
        get { state.withLock { $0.compactionFloor } }
        set { state.withLock { $0.compactionFloor = newValue } }
    }

    /// Ends a compaction that has failed: it is tried again at `floor`. Where other data came instead, there
    /// is nothing to be tried.
    package func giveUpCompaction(until floor: Int) {
        state.withLock { state in
            state.compactionFloor = state.updatesMeanwhile == nil ? 0 : floor
            state.updatesMeanwhile = nil
        }
    }

    /// Whether the source has been deleted.
    public var isRetired: Bool { state.withLock { $0.isRetired } }

    /// After this no change succeeds.
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
