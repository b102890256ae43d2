// SPDX-License-Identifier: MIT
import EventLoop
import JSON

/// Gathers the messages of `pgoutput` into whole transactions of one table. For the loop's thread; knows no connection.
final class TransactionAssembler {
    /// What a message has led to.
    enum Outcome {
        case nothing
        case committed(Commit)
        /// The table's columns are others than before.
        case layoutChanged
    }

    /// A transaction all of whose changes have arrived, though some may still be on the way to the spool.
    struct Commit {
        let changes: ChangeLog
        let end: LogPosition
        /// Since 2000-01-01.
        let microseconds: Int64
        let aborted: Set<UInt32>
    }

    /// A large transaction that arrives in pieces before its commit.
    private final class Stream {
        let changes: ChangeLog
        var mapping: RowMapping?
        var aborted: Set<UInt32> = []

        init(_ changes: ChangeLog) { self.changes = changes }
    }

    private let layout: TableLayout
    private let table: UInt32
    private let writer: RowWriter
    private let makeLog: () -> ChangeLog
    /// Of messages outside of streams; nil before the first description of the table.
    private var mapping: RowMapping?
    private var current: ChangeLog?
    private var streams: [UInt32: Stream] = [:]
    private var stream: Stream?

    /// - Parameter makeLog: makes an empty log of changes.
    init(
        _ layout: TableLayout, table: UInt32, maximumFeatureBytes: Int, makeLog: @escaping () -> ChangeLog
    ) {
        (self.layout, self.table, self.makeLog) = (layout, table, makeLog)
        writer = RowWriter(layout, maximumBytes: maximumFeatureBytes)
    }

    /// Whether a transaction has begun to arrive whose end has not.
    var isInTransaction: Bool { current != nil || stream != nil }

    /// The log that is being written to a spool, so that reading has to wait; nil if there is none.
    var writingLog: ChangeLog? { (stream?.changes ?? current).flatMap { $0.isWriting ? $0 : nil } }

    /// Takes a message in.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(PostgresDataError) -> Outcome {
        let (message, transaction) = try LogicalMessage.read(bytes, isStreamed: stream != nil)
        switch message {
        case .begin: current = makeLog()
        case .commit(let end, let time):
            guard let changes = current else { throw PostgresDataError("a commit has no beginning") }
            current = nil
            return .committed(Commit(changes: changes, end: end, microseconds: time, aborted: []))
        case .relation(let found):
            guard found.id == table else { break }
            guard let new = RowMapping(found, layout) else { return .layoutChanged }
            if let stream { stream.mapping = new } else { mapping = new }
        case .insert(let id, let row) where id == table: try put(row, old: nil, transaction)
        case .update(let id, let old, let row) where id == table: try put(row, old: old, transaction)
        case .delete(let id, let old) where id == table: try delete(old, transaction)
        case .truncate(let tables) where tables.contains(table):
            try log().append(.clear, subtransaction: transaction)
        case .insert, .update, .delete, .truncate, .other: break
        case .streamStart(let transaction, _):
            let begun = streams[transaction] ?? Stream(makeLog())
            streams[transaction] = begun
            stream = begun
        case .streamStop: stream = nil
        case .streamAbort(let transaction, let subtransaction):
            if transaction == subtransaction {
                streams[transaction] = nil
            } else {
                streams[transaction]?.aborted.insert(subtransaction)
            }
        case .streamCommit(let transaction, let end, let time):
            guard let done = streams.removeValue(forKey: transaction) else {
                throw PostgresDataError("a streamed commit has no beginning")
            }
            // From now on the server takes the description for sent.
            if let described = done.mapping { mapping = described }
            return .committed(
                Commit(changes: done.changes, end: end, microseconds: time, aborted: done.aborted))
        }
        return .nothing
    }

    private func log() throws(PostgresDataError) -> ChangeLog {
        guard let log = stream?.changes ?? current else {
            throw PostgresDataError("a change is outside of a transaction")
        }
        return log
    }

    private func values(_ row: [RowValue]) throws(PostgresDataError) -> [RowValue] {
        guard let mapping = stream?.mapping ?? mapping else {
            throw PostgresDataError("a row comes before the description of its table")
        }
        return try mapping.values(row)
    }

    private func put(
        _ row: [RowValue], old: [RowValue]?, _ transaction: UInt32
    ) throws(PostgresDataError) {
        let log = try log()
        var new = try values(row)
        var previous: [UInt8]?
        if let old {
            let old = try values(old)
            // An old row with all values has those that the new one does not repeat.
            for index in new.indices {
                if case .unchanged = new[index], case .text = old[index] { new[index] = old[index] }
            }
            previous = try writer.identifier(old[0])
        }
        let id = try writer.identifier(new[0])
        if previous == id { previous = nil }
        var text = ByteWriter()
        switch try writer.append(new, to: &text) {
        case .feature(let gaps):
            guard let id else { return }
            let row = FeatureRow(id: id, previousID: previous, template: text.bytes, gaps: gaps)
            log.append(.put(row), subtransaction: transaction)
        case .skipped(let reason):
            log.count(skipped: reason)
            for gone in [previous, id].compactMap({ $0 }) {
                log.append(.remove(id: gone), subtransaction: transaction)
            }
        }
    }

    private func delete(_ old: [RowValue], _ transaction: UInt32) throws(PostgresDataError) {
        guard let id = try writer.identifier(try values(old)[0]) else { return }
        try log().append(.remove(id: id), subtransaction: transaction)
    }
}
