// SPDX-License-Identifier: MIT
import ReplicationLog

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
