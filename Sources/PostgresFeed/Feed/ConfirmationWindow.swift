// SPDX-License-Identifier: MIT
import ReplicationLog

/// Transactions that were delivered and not confirmed yet.
struct ConfirmationWindow {
    private struct Entry {
        let position: LogPosition
        let bytes: Int
        /// When the transaction was committed, in microseconds since 1970; nil for a copy.
        let committed: Int64?
    }

    private var entries: [Entry] = []
    /// The index of the first entry that is not confirmed.
    private var first = 0
    private var bytes = 0

    /// How many bytes may be unconfirmed before the feed stops reading; a single larger transaction is always
    /// allowed. All of them may be applied together: a change costs less the more there are.
    static let mostBytes = 16 << 20
    /// The memory of a transaction and of a change besides the change's text, in bytes.
    static let bytesOfTransaction = 512
    static let bytesOfChange = 64

    var isEmpty: Bool { first == entries.count }
    var isFull: Bool { bytes >= Self.mostBytes }
    /// When the oldest unconfirmed transaction was committed.
    var oldestCommit: Int64? { isEmpty ? nil : entries[first].committed }

    mutating func add(_ transaction: FeedTransaction) {
        add(
            Entry(
                position: transaction.position.log,
                bytes: transaction.byteCount + transaction.changeCount * Self.bytesOfChange + Self.bytesOfTransaction,
                committed: transaction.commitMicroseconds))
    }

    /// A copy fills the window: nothing is read until it is confirmed.
    mutating func add(copyAt position: LogPosition) {
        add(Entry(position: position, bytes: Self.mostBytes, committed: nil))
    }

    private mutating func add(_ entry: Entry) {
        entries.append(entry)
        bytes += entry.bytes
    }

    mutating func confirm(_ position: LogPosition) {
        while first < entries.count, entries[first].position <= position {
            bytes -= entries[first].bytes
            first += 1
        }
        if first * 2 > entries.count {
            entries.removeFirst(first)
            first = 0
        }
    }

    mutating func removeAll() { self = ConfirmationWindow() }
}
