// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// What a source's files say: the snapshot to start from and the changes since.
package struct RecoveredSource {
    package let snapshot: Snapshot
    package let contents: SourceFiles.Contents
    package let changes: [JournalRecord.Entry]
    /// What was found beside, for the log.
    package let notes: [String]
    /// Why this is not the newest data; nil where it is.
    package let loss: String?
    /// Whether a newer snapshot had to be passed over.
    package let isPatched: Bool
    /// The greatest number of a revision that the files tell of.
    package let newestRevision: UInt64

    /// Reads a source's directory: the newest good snapshot with all journals that lead on from it.
    ///
    /// - Parameter checkingText: whether a snapshot counts as good only with all its text checked.
    package static func read(
        _ directory: String, shared: SharedState, checkingText: Bool
    ) throws(StateDamage) -> RecoveredSource {
        let files = try FoundFiles(directory)
        var notes: [String] = []
        for generation in files.snapshots {
            do throws(StateDamage) {
                let snapshot = try Self.snapshot(generation, directory, shared)
                if checkingText, !snapshot.revision.store.verifyText() {
                    throw StateDamage(
                        "\(SourceFiles.path(generation, .snapshot, in: directory)) is damaged in its features"
                    )
                }
                let chain = JournalChain(from: generation, files)
                // That there once was nothing is no older data: an empty answer would be a wrong one.
                guard chain.isComplete || snapshot.revision.hasData || !chain.changes.isEmpty else {
                    notes += chain.notes.filter { !notes.contains($0) }
                    continue
                }
                return RecoveredSource(
                    snapshot: snapshot,
                    contents: SourceFiles.Contents(
                        generation: generation, previous: files.snapshots.first { $0 < generation },
                        journal: chain.isComplete ? try chain.writer() : nil,
                        newest: chain.isComplete ? chain.newest : files.newest),
                    changes: chain.changes, notes: notes + chain.notes,
                    loss: chain.isComplete ? nil : (notes + chain.notes).joined(separator: "; "),
                    isPatched: !notes.isEmpty,
                    newestRevision: max(snapshot.description.revision, files.newestRevision))
            } catch {
                if !notes.contains(error.message) { notes.append(error.message) }
            }
        }
        throw StateDamage(
            notes.isEmpty ? "\(directory) has no snapshot" : notes.joined(separator: "; "))
    }

    private static func snapshot(
        _ generation: UInt64, _ directory: String, _ shared: SharedState
    ) throws(StateDamage) -> Snapshot {
        let path = SourceFiles.path(generation, .snapshot, in: directory)
        let snapshot = try Snapshot(path, shared: shared)
        guard snapshot.generation == generation else {
            throw StateDamage("\(path) is the snapshot of generation \(snapshot.generation)")
        }
        return snapshot
    }
}

/// A source's files by generation.
package struct FoundFiles {
    package let directory: String
    /// The newest first.
    package let snapshots: [UInt64]
    package let journals: Set<UInt64>
    /// The greatest generation of any.
    package var newest: UInt64 { max(snapshots.first ?? 0, journals.max() ?? 0) }
    /// The greatest number of a revision that a journal tells of.
    package let newestRevision: UInt64

    package init(_ directory: String) throws(StateDamage) {
        self.directory = directory
        let names: [String]
        do throws(FileError) { names = try FileIO.names(in: directory) } catch {
            throw StateDamage(error.description)
        }
        for name in names where name.hasPrefix(SourceFiles.temporaryPrefix) {
            FileIO.remove(directory + "/" + name)
        }
        let files = names.compactMap { SourceFiles.read($0) }
        snapshots = files.filter { $0.kind == .snapshot }.map(\.generation).sorted(by: >)
        journals = Set(files.filter { $0.kind == .journal }.map(\.generation))
        newestRevision =
            journals.compactMap { generation in
                try? SourceJournal(SourceFiles.path(generation, .journal, in: directory)).newestRevision
            }.max() ?? 0
    }
}

/// The journals that lead on from a snapshot.
private struct JournalChain {
    private(set) var changes: [JournalRecord.Entry] = []
    private(set) var notes: [String] = []
    /// Whether the changes lead to the newest data.
    private(set) var isComplete = true
    private var last: SourceJournal?

    init(from first: UInt64, _ files: FoundFiles) {
        var generation = first
        repeat {
            do throws(StateDamage) {
                let journal = try Self.read(generation, files)
                if generation > first, !journal.continues {
                    // Without its snapshot an import that had not ended; with it, or once it had, newer data.
                    isComplete =
                        !journal.hasBegun && generation == files.newest
                        && !files.snapshots.contains(generation)
                    if isComplete { FileIO.remove(journal.path) }
                    return
                }
                take(journal)
                if let damage = journal.damage { throw StateDamage(damage) }
            } catch {
                notes.append(error.message)
                isComplete = false
                return
            }
            generation += 1
        } while generation <= files.newest
    }

    private mutating func take(_ journal: SourceJournal) {
        last = journal
        changes += journal.records
        if journal.tornBytes > 0, journal.damage == nil {
            notes.append(
                "\(journal.path): the last \(journal.tornBytes) bytes, of a change that was being written when the daemon ended and that nobody was told of, are cut off"
            )
        }
    }

    private static func read(_ generation: UInt64, _ files: FoundFiles) throws(StateDamage) -> SourceJournal {
        let path = SourceFiles.path(generation, .journal, in: files.directory)
        guard files.journals.contains(generation) else { throw StateDamage("\(path) is missing") }
        let journal = try SourceJournal(path)
        guard journal.generation == generation else {
            throw StateDamage("\(path) is the journal of generation \(journal.generation)")
        }
        return journal
    }

    /// The generation of the last journal that leads on.
    var newest: UInt64 { last?.generation ?? 0 }

    func writer() throws(StateDamage) -> JournalWriter? {
        guard let last else { return nil }
        do throws(FileError) { return try JournalWriter(continuing: last) } catch {
            throw StateDamage(error.description)
        }
    }
}
