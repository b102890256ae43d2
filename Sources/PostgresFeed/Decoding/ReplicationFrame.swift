// SPDX-License-Identifier: MIT
import ReplicationLog

/// Reads binary COPY. Each message of the server contains whole rows; the header precedes the first row.
///
/// Source: https://www.postgresql.org/docs/15/sql-copy.html, "Binary Format", and
/// https://www.postgresql.org/docs/15/protocol-message-formats.html, "CopyData"
enum CopyDecoder {
    private static let signature = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0x00]

    /// The size in bytes of the header at the beginning of the first message.
    static func headerSize(_ message: UnsafeRawBufferPointer) throws(PostgresDataError) -> Int {
        guard message.count >= 19, message.starts(with: signature) else {
            throw PostgresDataError("the server did not send rows in binary form")
        }
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: message[15...]))
        let extra = Int(try reader.integer(Int32.self))
        guard extra >= 0, message.count >= 19 + extra else {
            throw PostgresDataError("a copy's header is not valid")
        }
        return 19 + extra
    }

    /// Whether a message is the end of all rows.
    static func isEnd(_ message: UnsafeRawBufferPointer) -> Bool {
        message.count == 2 && message[0] == 0xff && message[1] == 0xff
    }

    /// Calls `body` for each row. The values are valid only during the call.
    ///
    /// - Parameter bytes: whole rows.
    static func read(
        _ bytes: UnsafeRawBufferPointer, _ body: ([RowValue]) throws(PostgresDataError) -> Void
    ) throws(PostgresDataError) {
        var reader = ByteReader(bytes)
        var values: [RowValue] = []
        while reader.remaining > 0 {
            let count: Int16 = try reader.integer()
            guard count >= 0 else { throw PostgresDataError("a copy has an end among its rows") }
            values.removeAll(keepingCapacity: true)
            for _ in 0..<count {
                let length = Int(try reader.integer(Int32.self))
                values.append(length < 0 ? .null : .text(try reader.slice(length)))
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
    case data(start: LogPosition, end: LogPosition, payload: UnsafeRawBufferPointer)
    case keepalive(end: LogPosition, wantsReply: Bool)

    init(_ bytes: UnsafeRawBufferPointer) throws(PostgresDataError) {
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
        for position in [received, durable, durable] {
            withUnsafeBytes(of: position.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: microseconds.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(wantsReply ? 1 : 0)
        return bytes
    }
}
