// SPDX-License-Identifier: MIT
import ReplicationLog

/// A message of the output plugin `pgoutput`, protocol versions 1 and 2.
///
/// Values of rows are ranges of the message.
///
/// Source: https://www.postgresql.org/docs/15/protocol-logicalrep-message-formats.html
enum LogicalMessage {
    case begin
    /// `end` is the position after the transaction; `time` is in microseconds since 2000-01-01.
    case commit(end: LogPosition, time: Int64)
    case relation(ReplicatedTable)
    case insert(table: UInt32, row: [RowValue])
    /// `old` contains the key's old values if they changed, or all old values.
    case update(table: UInt32, old: [RowValue]?, row: [RowValue])
    /// `old` contains the key's values, or all values.
    case delete(table: UInt32, old: [RowValue])
    case truncate(tables: [UInt32])
    case streamStart(transaction: UInt32)
    case streamStop
    case streamCommit(transaction: UInt32, end: LogPosition, time: Int64)
    /// A transaction, or a subtransaction of it, was rolled back.
    case streamAbort(transaction: UInt32, subtransaction: UInt32)
    /// A message that changes no row: an origin, a type, or an application's message.
    case other

    /// - Parameter isStreamed: whether the message is between a stream's start and stop. It then begins with
    ///   the transaction to which it belongs.
    /// - Returns: the message and that transaction, which is 0 outside a stream.
    static func read(
        _ bytes: ArraySlice<UInt8>, isStreamed: Bool
    ) throws(PostgresDataError) -> (message: LogicalMessage, transaction: UInt32) {
        var reader = ByteReader(bytes)
        let kind: UInt8 = try reader.integer()
        let belongs = isStreamed && Self.isInStream(kind)
        let transaction: UInt32 = belongs ? try reader.integer() : 0
        return (try read(kind, &reader), transaction)
    }

    private static func isInStream(_ kind: UInt8) -> Bool {
        switch Character(UnicodeScalar(kind)) {
        case "R", "Y", "I", "U", "D", "T", "M": true
        default: false
        }
    }

    private static func read(_ kind: UInt8, _ reader: inout ByteReader) throws(PostgresDataError) -> LogicalMessage {
        switch kind {
        case UInt8(ascii: "B"):
            // The commit's position and time, and the transaction's id.
            _ = try reader.slice(20)
            return .begin
        case UInt8(ascii: "C"):
            let (end, time) = try commit(&reader)
            return .commit(end: end, time: time)
        case UInt8(ascii: "R"): return .relation(try table(&reader))
        case UInt8(ascii: "I"):
            let table: UInt32 = try reader.integer()
            try expect(UInt8(ascii: "N"), &reader)
            return .insert(table: table, row: try row(&reader))
        case UInt8(ascii: "U"): return try update(&reader)
        case UInt8(ascii: "D"):
            let table: UInt32 = try reader.integer()
            let part: UInt8 = try reader.integer()
            guard part == UInt8(ascii: "K") || part == UInt8(ascii: "O") else { throw unexpected(part) }
            return .delete(table: table, old: try row(&reader))
        case UInt8(ascii: "T"):
            let count: Int32 = try reader.integer()
            _ = try reader.integer(UInt8.self)
            guard count >= 0, Int(count) <= reader.remaining / 4 else { throw unexpected(kind) }
            var tables: [UInt32] = []
            for _ in 0..<count { tables.append(try reader.integer()) }
            return .truncate(tables: tables)
        case UInt8(ascii: "S"):
            let transaction: UInt32 = try reader.integer()
            // Whether this is the transaction's first part.
            _ = try reader.slice(1)
            return .streamStart(transaction: transaction)
        case UInt8(ascii: "E"): return .streamStop
        case UInt8(ascii: "c"):
            let transaction: UInt32 = try reader.integer()
            let (end, time) = try commit(&reader)
            return .streamCommit(transaction: transaction, end: end, time: time)
        case UInt8(ascii: "A"):
            return .streamAbort(transaction: try reader.integer(), subtransaction: try reader.integer())
        case UInt8(ascii: "O"), UInt8(ascii: "Y"), UInt8(ascii: "M"): return .other
        default: throw unexpected(kind)
        }
    }

    private static func commit(
        _ reader: inout ByteReader
    ) throws(PostgresDataError) -> (end: LogPosition, time: Int64) {
        // Unused flags, and the position of the commit's record.
        _ = try reader.slice(9)
        return (LogPosition(rawValue: try reader.integer()), try reader.integer())
    }

    private static func update(_ reader: inout ByteReader) throws(PostgresDataError) -> LogicalMessage {
        let table: UInt32 = try reader.integer()
        var old: [RowValue]?
        var part: UInt8 = try reader.integer()
        if part == UInt8(ascii: "K") || part == UInt8(ascii: "O") {
            old = try row(&reader)
            part = try reader.integer()
        }
        guard part == UInt8(ascii: "N") else { throw unexpected(part) }
        return .update(table: table, old: old, row: try row(&reader))
    }

    private static func table(_ reader: inout ByteReader) throws(PostgresDataError) -> ReplicatedTable {
        let id: UInt32 = try reader.integer()
        // The schema, the name and the replica identity.
        _ = (try reader.string(), try reader.string(), try reader.slice(1))
        let count: UInt16 = try reader.integer()
        var columns: [ReplicatedTable.Column] = []
        for _ in 0..<count {
            // Whether the column is part of the replica identity.
            _ = try reader.slice(1)
            columns.append(.init(name: try reader.string(), type: try reader.integer(), modifier: try reader.integer()))
        }
        return ReplicatedTable(id: id, columns: columns)
    }

    private static func row(_ reader: inout ByteReader) throws(PostgresDataError) -> [RowValue] {
        let count: UInt16 = try reader.integer()
        var values: [RowValue] = []
        values.reserveCapacity(Int(count))
        for _ in 0..<count {
            let kind: UInt8 = try reader.integer()
            switch kind {
            case UInt8(ascii: "n"): values.append(.null)
            case UInt8(ascii: "u"): values.append(.unchanged)
            case LongValues.kind: values.append(.tooLong)
            case UInt8(ascii: "t"):
                values.append(.text(try reader.range(Int(try reader.integer(Int32.self)))))
            default: throw unexpected(kind)
            }
        }
        return values
    }

    private static func expect(_ part: UInt8, _ reader: inout ByteReader) throws(PostgresDataError) {
        let found: UInt8 = try reader.integer()
        guard found == part else { throw unexpected(found) }
    }

    private static func unexpected(_ byte: UInt8) -> PostgresDataError {
        PostgresDataError("the server sent a logical replication message with an unexpected byte \(byte)")
    }
}

/// A table as `pgoutput` describes it before its first row.
struct ReplicatedTable: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        /// The type's object id.
        let type: UInt32
        let modifier: Int32
    }

    let id: UInt32
    let columns: [Column]
}

/// A column's value in a row.
enum RowValue: Sendable, Equatable {
    case null
    /// A large value that did not change and that the server does not repeat (TOAST).
    case unchanged
    /// A value that is too long for any feature, which was left out when the row was read.
    case tooLong
    /// The output of the type's output function: its range in the row's bytes.
    case text(Range<Int>)
}
