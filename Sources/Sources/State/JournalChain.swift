// SPDX-License-Identifier: MIT
import SourceStorage

/// The journals that follow a snapshot.
struct JournalChain {
    private(set) var journals: [FoundJournal] = []
    private(set) var notes: [String] = []
    /// Generations with damage.
    private(set) var damaged: Set<UInt64> = []
    /// Whether the changes lead to the newest data.
    private(set) var isComplete = true

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
                guard generation == first || isNext(journal, files) else { return }
                journals.append(journal)
                if let note = journal.note { notes.append(note) }
                if let damage = journal.damage {
                    fail(damage, generation)
                    return
                }
                noteTail(journal)
            } catch {
                guard error.kind == .damage else { throw error }
                fail(error.message, generation)
                return
            }
        }
        // A newer snapshot whose journal is missing.
        let last = journals.last?.generation ?? first
        if let newer = files.snapshots.first(where: { $0 > last && !uncommitted.contains($0) }) {
            fail("\(SourceFiles.path(newer, .journal, in: files.directory)) is missing", newer)
        }
    }

    /// Whether a journal continues the last one.
    private mutating func isNext(_ journal: FoundJournal, _ files: FoundFiles) -> Bool {
        let last = journals.last?.generation ?? 0
        let before = journal.previous > 0 ? journal.previous : journal.generation - 1
        if journal.continues {
            guard before == last else {
                fail("\(SourceFiles.path(before, .journal, in: files.directory)) is missing", nil)
                return false
            }
            return true
        }
        // The journal follows other data: those of an unfinished import, or newer data if the import finished or its snapshot exists.
        isComplete =
            !journal.hasBegun && journal.generation == files.newest
            && !files.snapshots.contains(journal.generation)
        return false
    }

    private mutating func fail(_ message: String, _ generation: UInt64?) {
        notes.append(message)
        isComplete = false
        if let generation { damaged.insert(generation) }
    }

    private mutating func noteTail(_ journal: FoundJournal) {
        guard journal.tornBytes > 0 else { return }
        notes.append(
            "\(journal.path): the last \(journal.tornBytes) bytes, of a change that was being written when the daemon ended and that was never acknowledged, are cut off"
        )
    }

    var changes: [JournalRecord.Entry] { journals.flatMap(\.records) }
}
