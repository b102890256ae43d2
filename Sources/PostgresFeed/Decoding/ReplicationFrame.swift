// SPDX-License-Identifier: MIT
import ReplicationLog

/// Reads binary COPY. No row is cut by the end of a message; the header precedes the first row.
///
/// Source: https://www.postgresql.org/docs/15/sql-copy.html, "Binary Format", and
/// https://www.postgresql.org/docs/15/protocol-message-formats.html, "CopyData"
enum CopyDecoder {
    private static let signature = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00]

    /// The size in bytes of the header at the beginning of the first message.
    static func headerSize(_ message: Span<UInt8>) throws(PostgresDataError) -> Int {
        guard message.count >= 19, signature.indices.allSatisfy({ message[$0] == signature[$0] }) else {
            throw PostgresDataError("the server did not send rows in binary form")
        }
        let extra = (15..<19).reduce(0) { $0 << 8 | Int(message[$1]) }
        guard extra <= Int32.max, message.count >= 19 + extra else {
            throw PostgresDataError("a copy's header is not valid")
        }
        return 19 + extra
    }

    /// Whether a message is the end of all rows.
    static func isEnd(_ message: Span<UInt8>) -> Bool {
        message.count == 2 && message[0] == 0xff && message[1] == 0xff
    }

    /// Calls `body` with the values of each row.
    ///
    /// - Parameter bytes: rows, none of them cut.
    static func read(
        _ bytes: ArraySlice<UInt8>, _ body: ([RowValue]) throws(PostgresDataError) -> Void
    ) throws(PostgresDataError) {
        var reader = ByteReader(bytes)
        var values: [RowValue] = []
        while reader.remaining > 0 {
            let count: Int16 = try reader.integer()
            guard count >= 0 else { throw PostgresDataError("a copy has an end among its rows") }
            values.removeAll(keepingCapacity: true)
            for _ in 0..<count {
                let length = Int(try reader.integer(Int32.self))
                values.append(length < 0 ? .null : .text(try reader.range(length)))
            }
            try body(values)
        }
    }
}

/// A message of the streaming replication protocol, within CopyData.
///
/// Source: https://www.postgresql.org/docs/15/protocol-replication.html
enum ReplicationFrame {
    /// Log data; `end` is the end of the server's log when it was sent.
    case data(start: LogPosition, end: LogPosition, payload: ArraySlice<UInt8>)
    case keepalive(end: LogPosition, wantsReply: Bool)

    init(_ bytes: ArraySlice<UInt8>) throws(PostgresDataError) {
        var reader = ByteReader(bytes)
        let kind: UInt8 = try reader.integer()
        switch kind {
        case UInt8(ascii: "w"):
            let start = LogPosition(rawValue: try reader.integer())
            let end = LogPosition(rawValue: try reader.integer())
            _ = try reader.integer(UInt64.self)
            self = .data(start: start, end: end, payload: try reader.slice(reader.remaining))
        case UInt8(ascii: "k"):
            let end = LogPosition(rawValue: try reader.integer())
            _ = try reader.integer(UInt64.self)
            self = .keepalive(end: end, wantsReply: try reader.integer(UInt8.self) != 0)
        default: throw PostgresDataError("the server sent a replication message of unknown kind \(kind)")
        }
    }

    /// A standby's status update.
    ///
    /// - Parameters:
    ///   - received: the position up to which data have arrived.
    ///   - durable: the position up to which data are durable; the server may discard what precedes it.
    ///   - microseconds: the current time, since 2000-01-01.
    static func statusUpdate(
        received: LogPosition, durable: LogPosition, microseconds: Int64, wantsReply: Bool = false
    ) -> [UInt8] {
        var bytes = [UInt8(ascii: "r")]
        for position in [received, durable, durable] { bytes.append(bigEndian: position.rawValue) }
        bytes.append(bigEndian: microseconds)
        bytes.append(wantsReply ? 1 : 0)
        return bytes
    }
}
