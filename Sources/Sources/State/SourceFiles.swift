// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import Synchronization
import SystemSupport

/// The files of one source: `1.snapshot`, `1.journal` and so on by generation.
///
/// A generation begins with a snapshot of all data, and its journal has the changes since. The snapshot
/// before the newest stays with its journal, for the case that the newest is damaged.
///
/// Safe from any thread. All that writes blocks: only for threads of the pool.
package final class SourceFiles: Sendable {
    package let directory: String
    package let identity: SourceIdentity
    private let state: Mutex<State>

    /// Which files there are.
    package struct Contents: Sendable {
        /// Of the newest snapshot that is in place.
        package var generation: UInt64
        /// Of the one before it.
        package var previous: UInt64?
        /// Where changes go; nil where it is damaged, and changes have to wait for a snapshot.
        package var journal: JournalWriter?
        /// The greatest generation of any file: the next is above it.
        package var newest: UInt64
    }

    private struct State {
        var contents: Contents
        /// Bytes of the newest snapshot.
        var snapshotBytes: Int
        /// How long replaying the journals since would take about.
        var replayMilliseconds = 0.0
        /// When the snapshot was written, or found.
        var snapshotMoment = ContinuousClock.now
        var isRemoved = false
        /// While a journal is being replayed nothing is written.
        var isReplaying = false

        init(_ contents: Contents, in directory: String) {
            self.contents = contents
            snapshotBytes = FileIO.size(
                SourceFiles.path(contents.generation, .snapshot, in: directory))
        }
    }

    /// What was found in a directory, or just made.
    package init(directory: String, identity: SourceIdentity, _ contents: Contents) {
        self.directory = directory
        self.identity = identity
        state = Mutex(State(contents, in: directory))
    }

    /// Goes on with what a recovery has found instead.
    package func adopt(_ contents: Contents) { state.withLock { $0 = State(contents, in: directory) } }

    package enum FileKind: String {
        case snapshot
        case journal
    }

    package static func path(_ generation: UInt64, _ kind: FileKind, in directory: String) -> String {
        "\(directory)/\(generation).\(kind.rawValue)"
    }

    /// What a file's name tells; nil for names that are not of these files.
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

    /// Writes the first snapshot and journal of a source into a directory that has no name yet.
    package static func make(
        in directory: String, _ revision: Revision, _ identity: SourceIdentity, updatedAt: Timestamp
    ) throws(SourceError) -> JournalWriter {
        let snapshot = path(1, .snapshot, in: directory)
        try Snapshot.write(revision, of: identity, updatedAt: updatedAt, generation: 1, to: snapshot)
        let journal = try onDisk(
            try JournalWriter(
                creating: path(1, .journal, in: directory),
                beside: "\(directory)/\(temporaryPrefix)1.journal", generation: 1,
                revision: revision.number, continues: false, hasBegun: true))
        try onDisk(try FileIO.syncDirectory(directory))
        return journal
    }

    /// Keeps a change: it is on disk on return. Where this throws, the files are as they were.
    package func append(
        _ record: JournalRecord, at moment: Timestamp, making revision: Revision
    ) throws(SourceError) {
        try withState { (state) throws(SourceError) in
            guard !state.isReplaying else { return }
            guard state.contents.journal != nil else {
                throw .stateNotWritable("\(directory) has a damaged journal; nothing has changed")
            }
            let payload = record.payload(at: moment, revision: revision.number)
            do throws(FileError) { try state.contents.journal?.append(payload) } catch {
                throw SourceError(error)
            }
            state.replayMilliseconds += revision.buildMilliseconds
        }
    }

    /// Keeps data that have nothing to do with those before: a snapshot of its own. It is on disk on return.
    /// Where this throws, the files are as they were.
    package func replace(with revision: Revision, updatedAt: Timestamp) throws(SourceError) {
        try withState { (state) throws(SourceError) in
            let generation = state.contents.newest + 1
            let (new, final) = (temporary(generation), path(generation, .snapshot))
            let journalPath = path(generation, .journal)
            do throws(SourceError) {
                try Snapshot.write(
                    revision, of: identity, updatedAt: updatedAt, generation: generation, to: new)
                var journal = try onDisk(
                    try JournalWriter(
                        creating: journalPath, beside: temporary(generation) + ".journal",
                        generation: generation, revision: revision.number, continues: false,
                        hasBegun: false))
                try onDisk(try FileIO.rename(new, to: final))
                try onDisk(try FileIO.syncDirectory(directory))
                do throws(FileError) { try journal.begin() } catch { throw SourceError(error) }
                state.contents.journal = journal
                state.contents.newest = generation
                state.replayMilliseconds = 0
            } catch {
                for path in [new, final, journalPath] { FileIO.remove(path) }
                throw error
            }
            took(generation, &state)
        }
    }

    /// Whether so much was written since the newest snapshot that a new one is worth its while.
    package var wantsSnapshot: Bool {
        state.withLock { state in
            guard !state.isRemoved, !state.isReplaying else { return false }
            let written = (state.contents.journal?.end ?? 0) - JournalFormat.start
            let age = ContinuousClock.now - state.snapshotMoment
            return written > max(Self.smallestJournal, state.snapshotBytes / 8)
                || state.replayMilliseconds > Self.longestReplay
                || state.replayMilliseconds > Self.longReplay && age >= Self.longTime
        }
    }

    private static let smallestJournal = 1 << 20
    /// In milliseconds, as are all of these: a snapshot of a large source takes about a second to write.
    private static let longestReplay = 5000.0
    private static let longReplay = 300.0
    private static let longTime = Duration.seconds(60)

    /// Notes how long it took to replay the journal.
    package func tookReplay(milliseconds: Double) { state.withLock { $0.replayMilliseconds = milliseconds } }

    /// From now on changes go to a journal of their own, so that a snapshot of the data of now can be
    /// written beside them; the generation of both. To be called in the source's turn.
    package func beginSnapshot(of revision: Revision) throws(SourceError) -> UInt64 {
        try withState { (state) throws(SourceError) -> UInt64 in
            let generation = state.contents.newest + 1
            let path = path(generation, .journal)
            do throws(SourceError) {
                let journal = try onDisk(
                    try JournalWriter(
                        creating: path, beside: temporary(generation) + ".journal", generation: generation,
                        revision: revision.number, continues: true, hasBegun: true))
                try onDisk(try FileIO.syncDirectory(directory))
                state.contents.journal = journal
                state.contents.newest = generation
                state.replayMilliseconds = 0
            } catch {
                FileIO.remove(path)
                throw error
            }
            return generation
        }
    }

    /// Writes the snapshot for which `beginSnapshot` gave the generation. Changes go on meanwhile.
    package func writeSnapshot(
        _ revision: Revision, generation: UInt64, updatedAt: Timestamp
    ) throws(SourceError) {
        let new = temporary(generation)
        do throws(SourceError) {
            try Snapshot.write(
                revision, of: identity, updatedAt: updatedAt, generation: generation, to: new)
            try withState { (state) throws(SourceError) in
                // An import may have overtaken it.
                guard generation > state.contents.generation else { return FileIO.remove(new) }
                try onDisk(try FileIO.rename(new, to: path(generation, .snapshot)))
                try onDisk(try FileIO.syncDirectory(directory))
                took(generation, &state)
            }
        } catch {
            FileIO.remove(new)
            throw error
        }
    }

    private func temporary(_ generation: UInt64) -> String {
        "\(directory)/\(Self.temporaryPrefix)\(generation)"
    }

    /// What files are called that nobody is to read.
    package static let temporaryPrefix = "new-"

    /// A snapshot is in place: those before the last but it are needed no more.
    private func took(_ generation: UInt64, _ state: inout State) {
        state.contents.previous = state.contents.generation
        state.contents.generation = generation
        state.snapshotBytes = FileIO.size(path(generation, .snapshot))
        state.snapshotMoment = .now
        let oldest = state.contents.previous ?? generation
        for name in (try? FileIO.names(in: directory)) ?? [] {
            if let file = Self.read(name), file.generation < oldest { FileIO.remove(directory + "/" + name) }
        }
    }

    /// Whether a replay is under way.
    package var isReplaying: Bool { state.withLock { $0.isReplaying } }

    /// Runs a replay, during which changes are not written again.
    package func replaying<Result>(
        _ body: () throws(SourceError) -> Result
    ) throws(SourceError) -> Result {
        state.withLock { $0.isReplaying = true }
        defer { state.withLock { $0.isReplaying = false } }
        return try body()
    }

    /// After this nothing is written any more; what was being written is done on return.
    package func retire() { state.withLock { $0.isRemoved = true } }

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
