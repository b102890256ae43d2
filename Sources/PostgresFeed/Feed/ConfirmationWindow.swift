// SPDX-License-Identifier: MIT

/// Transactions that were delivered and not confirmed yet.
struct ConfirmationWindow {
    private struct Entry {
        let position: LogPosition
        let bytes: Int
        let changes: Int
        /// When the transaction was committed, in microseconds since 1970; nil for a copy.
        let committed: Int64?
    }

    private var entries: [Entry] = []
    /// The index of the first entry that is not confirmed.
    private var first = 0
    private var bytes = 0
    private var changes = 0

    /// How many bytes may be unconfirmed before the feed stops reading; a single larger transaction is always
    /// allowed. It is twice what is applied together, so that the next changes arrive meanwhile.
    static let mostBytes = 8 << 20
    static let mostChanges = 40_000

    var isEmpty: Bool { first == entries.count }
    var isFull: Bool { bytes >= Self.mostBytes || changes >= Self.mostChanges }
    /// When the oldest unconfirmed transaction was committed.
    var oldestCommit: Int64? { isEmpty ? nil : entries[first].committed }

    mutating func add(_ transaction: FeedTransaction) {
        add(
            Entry(
                position: transaction.position.log, bytes: transaction.byteCount,
                changes: transaction.changeCount,
                committed: transaction.commitMicroseconds))
    }

    /// A copy fills the window: nothing is read until it is confirmed.
    mutating func add(copyAt position: LogPosition) {
        add(Entry(position: position, bytes: Self.mostBytes, changes: 0, committed: nil))
    }

    private mutating func add(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
        changes += entry.changes
    }

    mutating func confirm(_ position: LogPosition) {
        while first < entries.count, entries[first].position <= position {
            bytes -= entries[first].bytes
            changes -= entries[first].changes
            first += 1
        }
        if first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
    }

    mutating func removeAll() { self = ConfirmationWindow() }
}
