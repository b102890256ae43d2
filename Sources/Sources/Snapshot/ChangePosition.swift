// SPDX-License-Identifier: MIT
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

    /// A change's record in a journal.
    struct Record: Equatable, Sendable {
        /// The generation of the journal. Later journals, which a snapshot that is being written begins, may be empty.
        let journal: UInt64
        /// The offset after the record.
        let end: Int
        let change: Change
    }

    /// The generation of the snapshot.
    let snapshot: UInt64
    /// The last record.
    let record: Record

    /// Nil if there are no changes since the snapshot.
    init?(after snapshot: UInt64, _ last: Record?) {
        guard let last, last.journal >= snapshot else { return nil }
        (self.snapshot, record) = (snapshot, last)
    }

    /// As a file contains it.
    var values: [UInt64] {
        [
            snapshot, record.journal, UInt64(record.end), record.change.revision,
            UInt64(bitPattern: record.change.moment),
        ]
    }
}
