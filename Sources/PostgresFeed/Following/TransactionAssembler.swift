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
    }

    /// A large transaction that arrives in pieces before its commit.
    private struct Stream {
        let changes: ChangeLog
        var mapping: RowMapping?
    }

    private let layout: TableLayout
    private let table: UInt32
    private let writer: RowWriter
    private let makeLog: () -> ChangeLog
    /// The mapping for messages outside streams; nil before the first description of the table.
    private var mapping: RowMapping?
    private var current: ChangeLog?
    private var streams: [UInt32: Stream] = [:]
    /// The stream that is arriving.
    private var streamed: UInt32?
    /// Changes that wait for the values of generated columns.
    private(set) var pending = PendingChanges()

    /// - Parameter makeLog: makes an empty log of changes.
    init(_ layout: TableLayout, table: UInt32, maximumFeatureBytes: Int, makeLog: @escaping () -> ChangeLog) {
        (self.layout, self.table, self.makeLog) = (layout, table, makeLog)
        writer = RowWriter(layout, maximumBytes: maximumFeatureBytes)
    }

    /// Whether a transaction has begun to arrive and is incomplete.
    var isInTransaction: Bool { current != nil || streamed != nil }

    /// Whether a message is between a stream's start and stop.
    var isStreaming: Bool { streamed != nil }

    /// Whether nothing of any transaction would have to be sent again over a new connection.
    var isEmpty: Bool { current == nil && streams.isEmpty && pending.isEmpty }

    /// The log that is being written to a spool, so that reading must wait; nil if there is none.
    var writingLog: ChangeLog? { log.flatMap { $0.isWriting ? $0 : nil } }

    private var stream: Stream? { streamed.flatMap { streams[$0] } }
    private var log: ChangeLog? { stream?.changes ?? current }

    /// Processes a message.
    func receive(_ bytes: ArraySlice<UInt8>) throws(PostgresDataError) -> Outcome {
        let (message, transaction) = try LogicalMessage.read(bytes, isStreamed: isStreaming)
        switch message {
        case .begin: current = makeLog()
        case .commit(let end, let time):
            guard let changes = current else { throw PostgresDataError("a commit has no beginning") }
            current = nil
            return .committed(Commit(changes: changes, end: end, microseconds: time))
        case .relation(let found):
            guard found.id == table else { break }
            guard let new = RowMapping(found, layout) else {
                return .mustCopy("the table's columns have changed")
            }
            if let streamed { streams[streamed]?.mapping = new } else { mapping = new }
        case .insert(let id, let row) where id == table:
            return try put(row, old: nil, transaction, of: bytes)
        case .update(let id, let old, let row) where id == table:
            return try put(row, old: old, transaction, of: bytes)
        case .delete(let id, let old) where id == table: try delete(old, transaction, of: bytes)
        case .truncate(let tables) where tables.contains(table):
            try emit(.clear, transaction)
        case .insert, .update, .delete, .truncate, .other: break
        case .streamStart(let transaction):
            if streams[transaction] == nil { streams[transaction] = Stream(changes: makeLog()) }
            streamed = transaction
        case .streamStop: streamed = nil
        case .streamAbort(let transaction, let subtransaction):
            if transaction == subtransaction {
                streams[transaction] = nil
            } else {
                streams[transaction]?.changes.aborted.insert(subtransaction)
            }
        case .streamCommit(let transaction, let end, let time):
            guard let done = streams.removeValue(forKey: transaction) else {
                throw PostgresDataError("a streamed commit has no beginning")
            }
            // From now on the server assumes that this description has been sent.
            if let described = done.mapping { mapping = described }
            return .committed(Commit(changes: done.changes, end: end, microseconds: time))
        }
        return .nothing
    }

    private func openLog() throws(PostgresDataError) -> ChangeLog {
        guard let log else { throw PostgresDataError("a change is outside of a transaction") }
        return log
    }

    private func described() throws(PostgresDataError) -> RowMapping {
        guard let mapping = stream?.mapping ?? mapping else {
            throw PostgresDataError("a row comes before the description of its table")
        }
        return mapping
    }

    private func emit(_ change: TableChange, _ subtransaction: UInt32) throws(PostgresDataError) {
        let log = try openLog()
        if pending.isEmpty {
            log.append(change, subtransaction: subtransaction)
        } else {
            pending.append(.other(change, log: log, subtransaction: subtransaction))
        }
    }

    /// - Parameter message: the message that has the values.
    private func put(
        _ row: [RowValue], old: [RowValue]?, _ transaction: UInt32, of message: ArraySlice<UInt8>
    ) throws(PostgresDataError) -> Outcome {
        let (log, mapping) = (try openLog(), try described())
        var new = try mapping.values(row)
        var inputs = try mapping.inputs(row)
        var previous: [UInt8]?
        if let old {
            // An old row with all values contains those that the new row does not repeat.
            let values = try mapping.values(old)
            Self.fill(&new, from: values)
            Self.fill(&inputs, from: try mapping.inputs(old))
            previous = try writer.identifier(values[0], of: message)
        }
        guard !layout.generated.isEmpty else {
            try write(new, of: message, previous, to: log, transaction)
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
                    bytes: message)))
        return .nothing
    }

    private static func fill(_ new: inout [RowValue], from old: [RowValue]) {
        for index in new.indices where new[index] == .unchanged {
            switch old[index] {
            case .text, .tooLong: new[index] = old[index]
            case .null, .unchanged: break
            }
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
        _ values: [RowValue], of bytes: ArraySlice<UInt8>, _ old: [UInt8]?, to log: ChangeLog, _ subtransaction: UInt32
    ) throws(PostgresDataError) {
        let id = try writer.identifier(values[0], of: bytes)
        let previous = old == id ? nil : old
        var text = ByteWriter()
        switch try writer.append(values, of: bytes, to: &text) {
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

    private func delete(
        _ old: [RowValue], _ transaction: UInt32, of message: ArraySlice<UInt8>
    ) throws(PostgresDataError) {
        let value = try described().values(old)[0]
        guard let id = try writer.identifier(value, of: message) else { return }
        try emit(.remove(id: id), transaction)
    }

    // MARK: Generated columns

    /// Continues with changes that waited for the values of generated columns, row by row in the order of
    /// `pending.inputs`.
    func resolve(_ computed: [[String?]]) throws(PostgresDataError) {
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
                    row.values[column.index] = isUnchanged ? .unchanged : row.add(value)
                }
                try write(row.values, of: row.bytes, row.previousID, to: row.log, row.subtransaction)
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
        /// The message that has the values, and computed values after it.
        var bytes: ArraySlice<UInt8>

        /// The inputs' texts; nil for those without a value here.
        var inputTexts: [String?] {
            inputs.map { input in
                guard case .text(let text) = input else { return nil }
                return String(decoding: bytes[text], as: UTF8.self)
            }
        }

        /// Adds a computed value; nil is NULL.
        mutating func add(_ text: String?) -> RowValue {
            guard let text else { return .null }
            let start = bytes.endIndex
            bytes += text.utf8
            return .text(start..<bytes.endIndex)
        }
    }

    enum Change {
        case row(Row)
        case other(TableChange, log: ChangeLog, subtransaction: UInt32)
    }

    private(set) var changes: [Change] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { changes.isEmpty }

    /// The inputs of all rows, in order.
    var inputs: [[String?]] {
        changes.compactMap { if case .row(let row) = $0 { row.inputTexts } else { nil } }
    }

    mutating func append(_ change: Change) {
        changes.append(change)
        byteCount += 64
        if case .row(let row) = change { byteCount += row.bytes.count }
    }

    mutating func removeAll() -> [Change] {
        defer { self = PendingChanges() }
        return changes
    }
}
