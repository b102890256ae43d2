// SPDX-License-Identifier: MIT
import ImageStore

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
    private mutating func isNext(
        _ journal: FoundJournal, _ generation: UInt64, _ files: FoundFiles
    ) -> Bool {
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
        // Other data: those of an import that had not ended, or, if its snapshot is there or it had, newer
        // data.
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
