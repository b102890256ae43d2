// SPDX-License-Identifier: MIT
import JSON
import ReplicationLog

/// Assembles the messages of `pgoutput` into transactions of one table. Used on the loop's thread; it
/// knows no connection.
final class TransactionAssembler {
    /// The effect of a message.
    enum Outcome {
        case nothing
        case committed(Commit)
        /// Only a new copy helps; the reason.
        case mustCopy(String)
    }

    /// A transaction whose changes have all arrived, though some may not have been written to the spool yet.
    struct Commit {
        let changes: ChangeLog
        let end: LogPosition
        /// The time of the commit, in microseconds since 2000-01-01.
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
    /// The mapping for messages outside streams; nil before the first description of the table.
    private var mapping: RowMapping?
    private var current: ChangeLog?
    private var streams: [UInt32: Stream] = [:]
    private var stream: Stream?
    /// Changes that wait for the values of generated columns.
    private(set) var pending = PendingChanges()

    /// - Parameter makeLog: makes an empty log of changes.
    init(
        _ layout: TableLayout, table: UInt32, maximumFeatureBytes: Int, makeLog: @escaping () -> ChangeLog
    ) {
        (self.layout, self.table, self.makeLog) = (layout, table, makeLog)
        writer = RowWriter(layout, maximumBytes: maximumFeatureBytes)
    }

    /// Whether a transaction has begun to arrive and is incomplete.
    var isInTransaction: Bool { current != nil || stream != nil }

    /// Whether nothing of any transaction would have to be sent again over a new connection.
    var isEmpty: Bool { current == nil && streams.isEmpty && pending.isEmpty }

    /// The log that is being written to a spool, so that reading must wait; nil if there is none.
    var writingLog: ChangeLog? { (stream?.changes ?? current).flatMap { $0.isWriting ? $0 : nil } }

    /// Processes a message.
    func receive(_ bytes: ArraySlice<UInt8>) throws(PostgresDataError) -> Outcome {
        let (message, transaction) = try LogicalMessage.read(bytes, isStreamed: stream != nil)
        switch message {
        case .begin: current = makeLog()
        case .commit(let end, let time):
            guard let changes = current else { throw PostgresDataError("a commit has no beginning") }
            current = nil
            return .committed(Commit(changes: changes, end: end, microseconds: time, aborted: []))
        case .relation(let found):
            guard found.id == table else { break }
            guard let new = RowMapping(found, layout) else {
                return .mustCopy("the table's columns have changed")
            }
            if let stream { stream.mapping = new } else { mapping = new }
        case .insert(let id, let row) where id == table:
            return try put(row, old: nil, transaction, of: bytes.count)
        case .update(let id, let old, let row) where id == table:
            return try put(row, old: old, transaction, of: bytes.count)
        case .delete(let id, let old) where id == table: try delete(old, transaction)
        case .truncate(let tables) where tables.contains(table):
            emit(.clear, try log(), transaction)
        case .insert, .update, .delete, .truncate, .other: break
        case .streamStart(let transaction):
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
            // From now on the server assumes that this description has been sent.
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

    private func described() throws(PostgresDataError) -> RowMapping {
        guard let mapping = stream?.mapping ?? mapping else {
            throw PostgresDataError("a row comes before the description of its table")
        }
        return mapping
    }

    private func emit(_ change: TableChange, _ log: ChangeLog, _ subtransaction: UInt32) {
        if pending.isEmpty {
            log.append(change, subtransaction: subtransaction)
        } else {
            pending.append(.other(change, log: log, subtransaction: subtransaction))
        }
    }

    /// - Parameter messageBytes: the size of the message, which stays in memory as long as its values.
    private func put(
        _ row: [RowValue], old: [RowValue]?, _ transaction: UInt32, of messageBytes: Int
    ) throws(PostgresDataError) -> Outcome {
        let (log, mapping) = (try log(), try described())
        var new = try mapping.values(row)
        var inputs = try mapping.inputs(row)
        var previous: [UInt8]?
        if let old {
            // An old row with all values contains those that the new row does not repeat.
            let values = try mapping.values(old)
            Self.fill(&new, from: values)
            Self.fill(&inputs, from: try mapping.inputs(old))
            previous = try writer.identifier(values[0])
        }
        guard !layout.generated.isEmpty else {
            try write(new, previous, to: log, transaction)
            return .nothing
        }
        if layout.generated.contains(where: { !canCompute($0, inputs) }) {
            return .mustCopy(
                "a generated column depends on a large value that the server does not repeat; REPLICA IDENTITY FULL avoids "
                    + "copies for this reason")
        }
        pending.append(
            .row(
                PendingChanges.Row(
                    log: log, subtransaction: transaction, values: new, previousID: previous, inputs: inputs,
                    messageBytes: messageBytes))
        )
        return .nothing
    }

    private static func fill(_ new: inout [RowValue], from old: [RowValue]) {
        for index in new.indices {
            if case .unchanged = new[index], case .text = old[index] { new[index] = old[index] }
        }
    }

    /// Whether a generated column's value can be determined from the others: it is computed, or its only
    /// input is unchanged.
    private func canCompute(_ column: TableLayout.Generated, _ inputs: [RowValue]) -> Bool {
        let unchanged = column.inputs.count { if case .unchanged = inputs[$0] { true } else { false } }
        if unchanged == 0 { return true }
        let isProperty = column.index >= layout.columns.count - layout.properties.count
        return isProperty && column.inputs.count == 1
    }

    private func write(
        _ values: [RowValue], _ old: [UInt8]?, to log: ChangeLog, _ subtransaction: UInt32
    ) throws(PostgresDataError) {
        let id = try writer.identifier(values[0])
        let previous = old == id ? nil : old
        var text = ByteWriter()
        switch try writer.append(values, to: &text) {
        case .feature(let gaps, _):
            guard let id else { return }
            let row = FeatureRow(id: id, previousID: previous, template: text.bytes, gaps: gaps)
            log.append(.put(row), subtransaction: subtransaction)
        case .skipped(let reason):
            log.count(skipped: reason)
            for id in [previous, id].compactMap({ $0 }) {
                log.append(.remove(id: id), subtransaction: subtransaction)
            }
        }
    }

    private func delete(_ old: [RowValue], _ transaction: UInt32) throws(PostgresDataError) {
        guard let id = try writer.identifier(try described().values(old)[0]) else { return }
        emit(.remove(id: id), try log(), transaction)
    }

    // MARK: Generated columns

    /// Continues with changes that waited for the values of generated columns, row by row in the order of
    /// `pending.inputs`.
    func resolve(_ computed: [[RowValue]]) throws(PostgresDataError) {
        var rows = computed[...]
        for change in pending.removeAll() {
            switch change {
            case .other(let change, let log, let subtransaction):
                log.append(change, subtransaction: subtransaction)
            case .row(var row):
                guard let values = rows.popFirst(), values.count == layout.generated.count else {
                    throw PostgresDataError("the server did not compute all generated columns")
                }
                for (column, value) in zip(layout.generated, values) {
                    let isUnchanged = column.inputs.contains { row.inputs[$0] == .unchanged }
                    row.values[column.index] = isUnchanged ? .unchanged : value
                }
                try write(row.values, row.previousID, to: row.log, row.subtransaction)
            }
        }
    }
}

/// Changes that wait for the values of generated columns, in order.
struct PendingChanges {
    /// A row without the values of its generated columns.
    struct Row {
        let log: ChangeLog
        let subtransaction: UInt32
        /// The values in the order of `TableLayout.columns`.
        var values: [RowValue]
        let previousID: [UInt8]?
        /// The values in the order of `TableLayout.inputs`.
        let inputs: [RowValue]
        /// The size of the message that has the values.
        let messageBytes: Int
    }

    enum Change {
        case row(Row)
        case other(TableChange, log: ChangeLog, subtransaction: UInt32)
    }

    private(set) var changes: [Change] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { changes.isEmpty }

    /// The inputs of all rows, in order.
    var inputs: [[RowValue]] {
        changes.compactMap { if case .row(let row) = $0 { row.inputs } else { nil } }
    }

    mutating func append(_ change: Change) {
        changes.append(change)
        byteCount += 64
        if case .row(let row) = change { byteCount += row.messageBytes }
    }

    mutating func removeAll() -> [Change] {
        defer { self = PendingChanges() }
        return changes
    }
}
