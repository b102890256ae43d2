// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// A position in a source's changes: a snapshot, and the last change in the journals that follow it.
struct ChangePosition: Equatable, Sendable {
    /// What distinguishes a change from others of the source.
    struct Change: Equatable, Sendable {
        /// The number of the revision that it made.
        let revision: UInt64
        /// When it was made, in milliseconds since 1970.
        let moment: Int64

        init(_ revision: UInt64, at moment: Timestamp) {
            (self.revision, self.moment) = (revision, moment.milliseconds)
        }

        init(_ entry: JournalRecord.Entry) { self.init(entry.revision, at: entry.moment) }
    }

    /// The generation of the snapshot.
    let snapshot: UInt64
    /// The generation of the last journal.
    let journal: UInt64
    /// The offset after its last record.
    let end: Int
    let change: Change

    init(snapshot: UInt64, journal: UInt64, end: Int, change: Change) {
        (self.snapshot, self.journal, self.end, self.change) = (snapshot, journal, end, change)
    }

    /// Nil if there are no changes.
    init?(after snapshot: UInt64, _ chain: JournalChain) {
        guard let last = chain.last, let journal = last.header?.generation, let change = chain.changes.last
        else { return nil }
        self.init(snapshot: snapshot, journal: journal, end: last.end, change: Change(change))
    }

    /// As a file contains it.
    var values: [UInt64] {
        [snapshot, journal, UInt64(end), change.revision, UInt64(bitPattern: change.moment)]
    }
}
