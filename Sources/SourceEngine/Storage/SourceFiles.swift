// SPDX-License-Identifier: MIT
import Clustering
import ImageStore
import Synchronization
import SystemSupport

/// The files of one source: `1.snapshot`, `1.journal` and so on by generation.
///
/// A generation begins with a snapshot of all data, and its journal contains the changes since then. The
/// previous snapshot is retained with its journal, in case the newest one is damaged.
///
/// Safe from any thread. Everything that writes blocks: only for threads of the pool.
package final class SourceFiles: Sendable {
    package let directory: String
    package let identity: SourceIdentity
    private let state: Mutex<State>
    /// Tells apart the sources that have had one name: a snapshot of a deleted source may still be being written into the
    /// directory of the source that follows it.
    private let number = SourceFiles.count.add(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)

    /// Which files there are.
    package struct Contents: Sendable {
        /// The generation of the newest complete snapshot.
        package var generation: UInt64
        /// The generation of the previous snapshot.
        package var previous: UInt64?
        /// The journal for changes; nil until the first change after a start, or if it is damaged.
        package var journal: JournalWriter?
        /// The journal that `journal` will continue, while it is not open.
        package var unopened: FoundJournal?
        /// The highest generation of any file. The next generation is above it.
        package var newest: UInt64
        /// Why the data are older than what was acknowledged; nil if they are not. Every snapshot contains it
        /// until a command replaces the data.
        package var loss: String?
        /// The lineages of the indexes in the newest snapshot, by the views' names; nil for the source's own. Empty if
        /// they are not known.
        package var lineages: [SourceName?: UInt64] = [:]
        /// How far the journals go beyond the newest snapshot.
        package var reached = JournalPosition()
    }

    private struct State {
        var contents: Contents
        /// The directory's identity, to notice when it is replaced.
        let directory: FileIdentity?
        /// Bytes of the newest snapshot.
        var snapshotBytes: Int
        /// The approximate time to replay the journals since then.
        var replayMilliseconds = 0.0
        /// How far the journal goes that `beginSnapshot` began.
        var reachedSince = JournalPosition()
        /// The approximate time to cluster again what no checkpoint has.
        var unrecordedMilliseconds = 0.0
        /// The feed of the journal's last change; nil if it came from none.
        var lastFeed: String?
        /// Bytes of the last checkpoint.
        var checkpointBytes = 0
        /// When the snapshot was written, or found.
        var snapshotMoment = ContinuousClock.now
        var isRemoved = false
        /// Files that have been removed, but are open.
        var outdated: [FileDescriptor] = []
        /// While a journal is being replayed nothing is written.
        var isReplaying = false
        /// The journal of a generation that could neither be completed nor undone.
        var failed: JournalWriter?

        init(_ contents: Contents, in directory: String) {
            self.contents = contents
            self.directory = FileIdentity(directory)
            snapshotBytes = FileIO.size(SourceFiles.path(contents.generation, .snapshot, in: directory))
        }
    }

    /// - Parameter contents: the files found in the directory, or just created.
    package init(directory: String, identity: SourceIdentity, _ contents: Contents) {
        self.directory = directory
        self.identity = identity
        state = Mutex(State(contents, in: directory))
    }

    /// Continues with the files that a recovery has found.
    package func adopt(_ contents: Contents) {
        state.withLock { $0 = State(contents, in: directory) }
    }

    package enum FileKind: String {
        case snapshot
        case journal
        case checkpoint
    }

    package static func path(_ generation: UInt64, _ kind: FileKind, in directory: String) -> String {
        "\(directory)/\(generation).\(kind.rawValue)"
    }

    /// The generation and kind in a file's name; nil for other names.
    package static func read(_ name: String) -> (generation: UInt64, kind: FileKind)? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let generation = UInt64(parts[0]), String(generation) == parts[0],
            let kind = FileKind(rawValue: String(parts[1]))
        else { return nil }
        return (generation, kind)
    }

    private func path(_ generation: UInt64, _ kind: FileKind) -> String {
        Self.path(generation, kind, in: directory)
    }

    /// The path of the newest snapshot.
    package var newestSnapshot: String { path(state.withLock { $0.contents.generation }, .snapshot) }

    /// Creates the files of a source without data, synced on return. After an error there are none.
    package static func create(
        in state: StateDirectory, _ revision: Revision, _ identity: SourceIdentity
    ) throws(SourceError) -> SourceFiles {
        let (path, journal) = try state.create(identity.name) { (directory) throws(SourceError) in
            try make(in: directory, revision, identity)
        }
        return SourceFiles(directory: path, identity: identity, Contents(generation: 1, journal: journal, newest: 1))
    }

    /// Writes the first snapshot and journal of a source. They take effect when the journal begins.
    private static func make(
        in directory: String, _ revision: Revision, _ identity: SourceIdentity
    ) throws(SourceError) -> JournalWriter {
        let snapshot = path(1, .snapshot, in: directory)
        try Snapshot.write(revision, of: identity, updatedAt: identity.createdAt, generation: 1, to: snapshot)
        let journal = try onDisk(
            try JournalWriter(
                creating: path(1, .journal, in: directory),
                beside: "\(directory)/\(temporaryPrefix)1.journal", generation: 1,
                revision: revision.number, previous: nil, hasBegun: false))
        try onDisk(try FileIO.syncDirectory(directory))
        return journal
    }

    /// Stores a change, synced on return. If this throws, the files are unchanged.
    package func append(
        _ record: JournalRecord, at moment: Timestamp, making revision: Revision,
        log: FollowedLog? = nil
    ) throws(SourceError) {
        try withState { (state) throws(SourceError) in
            guard !state.isReplaying else { return }
            try openJournal(&state)
            let payload = record.payload(at: moment, revision: revision.number, log: log)
            do throws(FileError) { try state.contents.journal?.append(payload) } catch {
                throw SourceError(error)
            }
            guard !record.isProgress else { return }
            state.contents.reached.add(revision.number, at: moment)
            state.reachedSince.add(revision.number, at: moment)
            // Many changes of a feed that follow one another are made again at once, which takes no longer than clustering
            // everything once: of most sources less than a checkpoint saves, of a large one seconds.
            let feed = revision.options.ttlSeconds == nil ? log?.origin.feed : nil
            let isNext = feed != nil && feed == state.lastFeed
            state.lastFeed = feed
            let milliseconds = revision.buildMilliseconds / (isNext ? Self.timesFasterTogether : 1)
            state.replayMilliseconds += milliseconds
            state.unrecordedMilliseconds += milliseconds
        }
    }

    /// Stores data by a new snapshot, synced on return. If this throws, the files are unchanged.
    ///
    /// - Parameter loss: why the data are older than what was acknowledged; nil if they are not.
    /// - Returns: the same revision, which reads its text, and its index if memory is short, from the file.
    package func replace(with revision: Revision, updatedAt: Timestamp, loss: String?) throws(SourceError) -> Revision {
        defer { closeOutdated() }
        return try withState { (state) throws(SourceError) -> Revision in
            try check(&state)
            let generation = state.contents.newest + 1
            try writeTemporary(revision, generation, updatedAt, loss)
            var made: JournalWriter?
            do throws(SourceError) {
                // A power loss must not leave the snapshot without the journal that says whether it is in effect.
                var journal = try makeJournal(revision: revision.number, previous: nil, hasBegun: false, &state)
                made = journal
                try giveName(generation)
                // The commit point of the new data.
                do throws(FileError) { try journal.begin() } catch { throw SourceError(error) }
                state.contents.journal = journal
            } catch {
                FileIO.remove(temporary(generation))
                state.failed = made
                try? takeBackFailed(&state)
                throw error
            }
            state.contents.unopened = nil
            state.contents.loss = loss
            state.replayMilliseconds = 0
            state.reachedSince = JournalPosition()
            took(generation, revision, &state)
            return revision.reading(path(generation, .snapshot))
        }
    }

    /// Whether enough was written since the newest snapshot to make a new one worthwhile.
    ///
    /// - Parameter canWait: whether it had better wait for other work, until twice as much was written.
    package func wantsSnapshot(_ limits: SourceLimits, canWait: Bool) -> Bool {
        state.withLock { state in
            guard !state.isRemoved, !state.isReplaying else { return false }
            let written = (state.contents.journal?.end ?? 0) - JournalFormat.start
            let age = ContinuousClock.now - state.snapshotMoment
            return written > max(Self.smallestJournal, state.snapshotBytes / 8) * (canWait ? 2 : 1)
                || state.replayMilliseconds > limits.longestReplay
                || state.replayMilliseconds > limits.longReplay && age >= Self.longTime
        }
    }

    /// Whether so much was clustered since the last checkpoint that a new one is worth its writing.
    ///
    /// - Parameter canWait: whether it had better wait for other work, until it is worth twice its writing.
    func wantsCheckpoint(_ limits: SourceLimits, canWait: Bool) -> Bool {
        state.withLock { state in
            guard !state.isRemoved, !state.isReplaying, !state.contents.lineages.isEmpty else { return false }
            let writing = Double(state.checkpointBytes) / Self.checkpointBytesPerMillisecond
            return state.unrecordedMilliseconds > (limits.longestClustering + writing) * (canWait ? 2 : 1)
        }
    }

    /// How many times faster changes of a feed are made together than one by one: about that with many changes.
    private static let timesFasterTogether = 20.0

    /// A fifth of what is written, so that large checkpoints take a small part of the time of updates.
    private static let checkpointBytesPerMillisecond = 40_000.0

    /// Where a checkpoint belongs.
    struct CheckpointPlan {
        let generation: UInt64
        let position: JournalPosition
        /// The named views that go on from the snapshot's.
        let views: [Revision]
        /// How long it took to cluster what the last checkpoint does not have.
        let milliseconds: Double
    }

    /// Begins a checkpoint of the current revision, which all journals have. The caller must hold the source's lock.
    ///
    /// - Returns: nil if the revision does not go on from the newest snapshot by updates in place.
    func planCheckpoint(of revision: Revision) -> CheckpointPlan? {
        state.withLock { state in
            let milliseconds = state.unrecordedMilliseconds
            state.unrecordedMilliseconds = 0
            guard !state.isRemoved, state.failed == nil, state.contents.reached.count > 0,
                revision.view.index.lineage == state.contents.lineages[nil], !revision.view.index.isPlain
            else { return nil }
            let lineages = state.contents.lineages
            return CheckpointPlan(
                generation: state.contents.generation, position: state.contents.reached,
                views: revision.views.filter { $0.view.index.lineage == lineages[$0.name] }, milliseconds: milliseconds)
        }
    }

    func writeCheckpoint(of revision: Revision, _ plan: CheckpointPlan) throws(FileError) {
        guard !state.withLock({ $0.isRemoved }) else { return }
        let new = temporary(plan.generation) + ".checkpoint"
        defer { FileIO.remove(new) }
        try Checkpoint.write(revision, plan.views, plan.position, generation: plan.generation, to: new)
        // Clusters that were made of damaged pages must not outlive them.
        guard !revision.isDamaged else { return }
        let bytes = FileIO.size(new)
        defer { closeOutdated() }
        try state.withLock { (state) throws(FileError) in
            guard !state.isRemoved, state.contents.generation == plan.generation else { return }
            let old = path(plan.generation, .checkpoint)
            // Some systems write a file to the disk before it replaces another, and changes wait for the lock.
            remove(old, &state)
            try FileIO.rename(new, to: old)
            state.checkpointBytes = bytes
            // Without clustering a change takes at most a quarter of the time.
            state.replayMilliseconds = max(0, state.replayMilliseconds - plan.milliseconds * 3 / 4)
        }
    }

    /// Delays the next attempt after a failed one: the disk may stay full.
    func checkpointFailed() { state.withLock { $0.unrecordedMilliseconds = -Self.checkpointDelay } }

    /// Milliseconds of clustering.
    private static let checkpointDelay = 10_000.0

    private static let smallestJournal = 1 << 20
    private static let longTime = Duration.seconds(60)

    /// Records how long it took to replay the journal.
    package func tookReplay(milliseconds: Double) { state.withLock { $0.replayMilliseconds = milliseconds } }

    /// Begins a new journal for later changes, so that a snapshot of the current data can be
    /// written at the same time. Returns the generation of both. The caller must hold the source's lock.
    package func beginSnapshot(of revision: Revision) throws(SourceError) -> UInt64 {
        try withState { (state) throws(SourceError) -> UInt64 in
            try check(&state)
            try openJournal(&state)
            let journal = try makeJournal(
                revision: revision.number, previous: state.contents.journal?.generation, hasBegun: true, &state)
            state.contents.journal = journal
            state.replayMilliseconds = 0
            state.reachedSince = JournalPosition()
            return journal.generation
        }
    }

    /// Writes the snapshot of the generation that `beginSnapshot` returned. Changes continue meanwhile.
    ///
    /// - Returns: the same revision, which reads its text, and its index if memory is short, from the file;
    ///   nil if an import has replaced the data.
    package func writeSnapshot(
        _ revision: Revision, generation: UInt64, updatedAt: Timestamp
    ) throws(SourceError) -> Revision? {
        // The directory of a deleted source may be another source's by now.
        try withState { _ in }
        // Changes go on meanwhile.
        try BackgroundThread.atLowPriority { [self] in
            Result { () throws(SourceError) in
                try writeTemporary(revision, generation, updatedAt, loss, syncInterval: Self.syncInterval)
            }
        }.get()
        defer { closeOutdated() }
        do throws(SourceError) {
            return try withState { (state) throws(SourceError) -> Revision? in
                // An import may have overtaken it.
                guard generation > state.contents.generation else {
                    FileIO.remove(temporary(generation))
                    return nil
                }
                try giveName(generation)
                took(generation, revision, &state)
                return revision.reading(path(generation, .snapshot))
            }
        } catch {
            FileIO.remove(temporary(generation))
            throw error
        }
    }

    /// Changes are synced to the journal while a snapshot is written. So many bytes take a disk some milliseconds.
    private static let syncInterval = 4 << 20

    /// Writes a snapshot under its temporary name.
    ///
    /// - Parameter syncInterval: after how many bytes the file is synced; nil: only once it is complete.
    private func writeTemporary(
        _ revision: Revision, _ generation: UInt64, _ updatedAt: Timestamp, _ loss: String?, syncInterval: Int? = nil
    ) throws(SourceError) {
        let new = temporary(generation)
        do throws(SourceError) {
            try Snapshot.write(
                revision, of: identity, updatedAt: updatedAt, loss: loss, generation: generation, to: new,
                syncInterval: syncInterval)
        } catch {
            FileIO.remove(new)
            throw error
        }
    }

    /// Gives a complete snapshot its name, synced on return.
    private func giveName(_ generation: UInt64) throws(SourceError) {
        try onDisk(try FileIO.rename(temporary(generation), to: path(generation, .snapshot)))
        try onDisk(try FileIO.syncDirectory(directory))
    }

    /// The path of an incomplete file.
    package func temporary(_ generation: UInt64) -> String {
        "\(directory)/\(Self.temporaryPrefix)\(generation)-\(number)"
    }

    /// The prefix of names of incomplete files.
    package static let temporaryPrefix = "new-"

    /// A snapshot is complete: those before the previous one are no longer needed.
    private func took(_ generation: UInt64, _ revision: Revision, _ state: inout State) {
        state.contents.previous = state.contents.generation
        state.contents.generation = generation
        state.contents.lineages = revision.lineages
        state.contents.reached = state.reachedSince
        state.unrecordedMilliseconds = 0
        state.snapshotBytes = FileIO.size(path(generation, .snapshot))
        state.snapshotMoment = .now
        let oldest = state.contents.previous ?? generation
        for name in (try? FileIO.names(in: directory)) ?? [] {
            guard let file = Self.read(name), file.generation < oldest else { continue }
            remove(directory + "/" + name, &state)
        }
    }

    /// Removes a file whose room is freed by `closeOutdated`.
    private func remove(_ path: String, _ state: inout State) {
        if let open = try? FileDescriptor(reading: path) { state.outdated.append(open) }
        FileIO.remove(path)
    }

    /// Closes removed files, so that their room is free: for a large one that takes a disk some tens of milliseconds, for which
    /// changes need not wait.
    private func closeOutdated() {
        _ = state.withLock { state in
            defer { state.outdated = [] }
            return state.outdated
        }
    }

    /// Makes sure that a generation whose call has failed is not in effect. Must precede any other write.
    private func takeBackFailed(_ state: inout State) throws(SourceError) {
        guard let failed = state.failed else { return }
        do throws(FileError) { try failed.unbegin() } catch { throw SourceError(error) }
        state.failed = nil
        // The journal marks the snapshot as not in effect, so it must stay as long as the snapshot.
        let snapshot = path(failed.generation, .snapshot)
        if FileIO.removes(snapshot), (try? FileIO.syncDirectory(directory)) != nil {
            FileIO.remove(failed.path)
        }
    }

    /// Opens the journal for later changes, which a start has only read.
    private func openJournal(_ state: inout State) throws(SourceError) {
        try takeBackFailed(&state)
        guard state.contents.journal == nil else { return }
        guard let last = state.contents.unopened else {
            throw .stateNotWritable("\(directory) has a damaged journal; nothing has changed")
        }
        var journal = try onDisk(try JournalWriter(continuing: last))
        if last.header?.isOlder == true {
            journal = try makeJournal(
                revision: last.newestRevision, previous: journal.generation, hasBegun: true, &state)
        }
        state.contents.journal = journal
        state.contents.unopened = nil
    }

    /// Creates a journal of the next generation.
    ///
    /// - Parameters:
    ///   - revision: the number of the revision that its records change.
    ///   - previous: the generation of the journal that it continues; nil if it follows other data.
    ///   - hasBegun: false if it takes effect only after `begin`.
    private func makeJournal(
        revision: UInt64, previous: UInt64?, hasBegun: Bool, _ state: inout State
    ) throws(SourceError) -> JournalWriter {
        let generation = state.contents.newest + 1
        let path = path(generation, .journal)
        do throws(SourceError) {
            let journal = try onDisk(
                try JournalWriter(
                    creating: path, beside: temporary(generation) + ".journal", generation: generation,
                    revision: revision, previous: previous, hasBegun: hasBegun))
            try onDisk(try FileIO.syncDirectory(directory))
            state.contents.newest = generation
            return journal
        } catch {
            FileIO.remove(path)
            throw error
        }
    }

    /// Opens the journal and syncs the records found in it.
    package func settle() throws(SourceError) {
        try withState { (state) throws(SourceError) in
            if state.contents.journal != nil || state.contents.unopened != nil { try openJournal(&state) }
        }
    }

    /// Throws if the directory has been replaced since it was read.
    private func check(_ state: inout State) throws(SourceError) {
        try takeBackFailed(&state)
        guard let known = state.directory, FileIdentity(directory) != known else { return }
        throw .stateNotWritable(
            "\(directory) was removed or replaced while the daemon runs; nothing has changed. Put it back, or restart the daemon on the one that is there"
        )
    }

    /// Why the data are older than what was acknowledged; nil if they are not.
    package var loss: String? { state.withLock { $0.contents.loss } }

    /// Records that a command has replaced the data. Until the next snapshot, the record of the change contains that.
    package func forgetLoss() { state.withLock { $0.contents.loss = nil } }

    /// Whether a replay is running.
    package var isReplaying: Bool { state.withLock { $0.isReplaying } }

    /// Runs a replay, during which changes are not written again.
    package func replaying<Result>(_ body: () throws(SourceError) -> Result) throws(SourceError) -> Result {
        state.withLock { $0.isReplaying = true }
        defer { state.withLock { $0.isReplaying = false } }
        return try body()
    }

    /// Stops all writes. Running writes are complete on return.
    package func retire() { state.withLock { $0.isRemoved = true } }

    /// Waits for running writes.
    package func settleWrites() { state.withLock { _ in } }

    package func unretire() { state.withLock { $0.isRemoved = false } }

    private func withState<Result: Sendable>(
        _ body: (inout State) throws(SourceError) -> Result
    ) throws(SourceError) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, SourceError> in
            guard !state.isRemoved else { return .failure(.sourceNotFound(identity.name)) }
            do throws(SourceError) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
