// SPDX-License-Identifier: MIT
import ImageStore
import SystemSupport

/// The journals that follow a snapshot.
struct JournalChain {
    /// The generations of the journals, in order.
    private(set) var generations: [UInt64] = []
    /// The last of the journals.
    private(set) var last: FoundJournal?
    private(set) var changes: [JournalRecord.Entry] = []
    /// How many of the changes come before the first that is missing; nil if none is.
    private(set) var firstGap: Int?
    private(set) var notes: [String] = []
    /// Generations with damage.
    private(set) var damaged: Set<UInt64> = []
    /// Whether acknowledged changes are missing.
    private(set) var isLossy = false
    /// Whether changes can go on in the last journal.
    private(set) var isContinuable = true

    /// - Parameter uncommitted: generations to ignore.
    /// - Throws: a fault that is not damage.
    init(from first: UInt64, _ files: FoundFiles, uncommitted: Set<UInt64>) throws(StateFault) {
        let path = SourceFiles.path(first, .journal, in: files.directory)
        guard files.journals.contains(first) else {
            fail("\(path) is missing", nil)
            return
        }
        for generation in files.journals where generation >= first && !uncommitted.contains(generation) {
            do throws(StateFault) {
                let journal = try files.journal(generation)
                guard generation == first || isNext(journal, generation, files) else { return }
                guard take(journal, generation) else { return }
            } catch {
                guard error.kind == .damage else { throw error }
                fail(error.message, generation)
                return
            }
        }
        // A newer snapshot whose journal is not there.
        let last = generations.last ?? first
        if let newer = files.snapshots.first(where: { $0 > last && !uncommitted.contains($0) }) {
            fail("\(SourceFiles.path(newer, .journal, in: files.directory)) is missing", newer)
        }
    }

    /// Whether a journal goes on where the last one ends.
    private mutating func isNext(_ journal: FoundJournal, _ generation: UInt64, _ files: FoundFiles) -> Bool {
        let previous = journal.header?.previous ?? 0
        let before = previous > 0 ? previous : generation - 1
        let hasSnapshot = files.snapshots.contains(generation)
        // Without a snapshot of its own, its records follow other records.
        if journal.header?.continues ?? !hasSnapshot {
            guard before == generations.last ?? 0 else {
                fail("\(SourceFiles.path(before, .journal, in: files.directory)) is missing", nil)
                return false
            }
            return true
        }
        // Other data: those of an import that had not ended, or, if its snapshot is there or it had, newer data.
        if journal.hasBegun || generation != files.newest || hasSnapshot { isLossy = true }
        return false
    }

    /// Adds a journal's changes; false if later journals are of no use.
    private mutating func take(_ journal: FoundJournal, _ generation: UInt64) -> Bool {
        generations.append(generation)
        last = journal
        if let note = journal.note { notes.append(note) }
        if journal.header == nil {
            isContinuable = false
            damaged.insert(generation)
        }
        guard append(journal.records) else { return false }
        guard let damage = journal.damage else {
            noteTail(journal)
            return true
        }
        fail(damage, generation)
        firstGap = firstGap ?? changes.count
        return append(journal.laterRecords)
    }

    /// Adds changes; false if not all are of use. Behind a missing change the source's log yields again what
    /// followed it.
    private mutating func append(_ records: [JournalRecord.Entry]) -> Bool {
        let used = firstGap == nil ? records[...] : records.prefix { $0.mark == nil }
        changes += used
        return used.count == records.count
    }

    private mutating func fail(_ message: String, _ generation: UInt64?) {
        notes.append(message)
        isLossy = true
        if let generation { damaged.insert(generation) }
    }

    private mutating func noteTail(_ journal: FoundJournal) {
        guard journal.tornBytes > 0 else { return }
        notes.append(
            "\(journal.path): the last \(journal.tornBytes) bytes, of a change that was being written when the daemon ended and that was never acknowledged, are cut off"
        )
    }
}

/// A source's journal as found on disk.
package typealias FoundJournal = JournalReader<JournalRecord.Entry>

/// A source's files by generation, as found on disk. Reading them changes nothing.
package struct FoundFiles {
    package let directory: String
    /// The generations of snapshots, newest first.
    package let snapshots: [UInt64]
    /// The generations of journals, oldest first.
    package let journals: [UInt64]
    /// Files that were being written when the daemon ended.
    package let temporaries: [String]
    /// The highest generation of any file.
    package var newest: UInt64 { max(snapshots.first ?? 0, journals.last ?? 0) }

    package init(_ directory: String) throws(StateFault) {
        self.directory = directory
        let names: [String]
        do throws(FileError) { names = try FileIO.names(in: directory) } catch { throw StateFault(error) }
        temporaries = names.filter { $0.hasPrefix(SourceFiles.temporaryPrefix) }.sorted()
        let files = names.compactMap { SourceFiles.read($0) }
        snapshots = files.filter { $0.kind == .snapshot }.map(\.generation).sorted(by: >)
        journals = files.filter { $0.kind == .journal }.map(\.generation).sorted()
    }

    /// The name of a file in the directory.
    package func name(_ generation: UInt64, _ kind: SourceFiles.FileKind) -> String {
        "\(generation).\(kind.rawValue)"
    }

    package func journal(_ generation: UInt64) throws(StateFault) -> FoundJournal {
        let path = SourceFiles.path(generation, .journal, in: directory)
        let journal = try FoundJournal(path)
        if let header = journal.header, header.generation != generation {
            throw StateFault("\(path) is the journal of generation \(header.generation)")
        }
        return journal
    }

    /// The generations whose call was never answered.
    package func uncommitted() throws(StateFault) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for generation in journals {
            do throws(StateFault) {
                if try journal(generation).isUncommitted { found.insert(generation) }
            } catch {
                if error.kind != .damage { throw error }
            }
        }
        return found
    }

    /// The highest revision number in the readable journals.
    package var newestRevision: UInt64 {
        journals.compactMap { try? journal($0).newestRevision }.max() ?? 0
    }
}
