// SPDX-License-Identifier: MIT
import CPostgres
import Glibc

/// A libpq connection, behind functions that do not expose its memory, and do not block unless they say so.
///
/// Invariant: `raw` comes from PQconnectStartParams and is released only by `deinit`. One thread uses it at a
/// time: the pool while it connects, because looking up a host's name blocks, and then the loop's thread.
/// libuv's own hand-over orders the two, so `@unchecked Sendable` is sound.
final class ConnectionHandle: @unchecked Sendable {
    private let raw: OpaquePointer

    /// What the connection waits for while it is being made.
    enum Progress: Sendable { case reading, writing, connected, failed(PostgresError) }

    /// Begins to connect. Blocks while a host's name is looked up.
    ///
    /// - Parameters:
    ///   - connection: a connection string or URI.
    ///   - isReplication: whether the connection accepts replication commands besides SQL.
    init(_ connection: String, isReplication: Bool) throws(PostgresError) {
        guard cpq_is_available() else {
            throw PostgresError(
                "\(String(cString: cpq_library())) can't be loaded: install libpq, which PostgreSQL's clients have")
        }
        try Self.check(connection)
        // What the connection string itself sets overrides the options before it.
        var options =
            Self.lostNetwork + [
                ("dbname", connection), ("client_encoding", "UTF8"), ("fallback_application_name", "clusterd"),
            ]
        if isReplication { options.append(("replication", "database")) }
        let keywords = options.map { UnsafePointer(strdup($0.0)) } + [nil]
        let values = options.map { UnsafePointer(strdup($0.1)) } + [nil]
        defer { for text in keywords + values { free(UnsafeMutableRawPointer(mutating: text)) } }
        guard let raw = cpq_connectStartParams(keywords, values, 1) else {
            throw PostgresError("out of memory")
        }
        self.raw = raw
        // libpq would otherwise write notices to standard error.
        cpq_setNoticeReceiver(raw, { _, _ in }, nil)
    }

    /// Makes a connection fail about a minute after its network is lost, even if it only waits: the system
    /// would take hours. Idle times in seconds, the other in milliseconds.
    private static let lostNetwork = [
        ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "60000"),
    ]

    deinit { cpq_finish(raw) }

    /// Checks the string itself. libpq's own messages repeat parts of the string, which may be secrets.
    private static func check(_ connection: String) throws(PostgresError) {
        let options = cpq_conninfoParse(connection, nil)
        guard options != nil else {
            throw PostgresError(
                "the connection string is not valid: libpq reads \"host=… dbname=… user=…\", \"service=…\" or a URI "
                    + "\"postgresql://user@host/database\"")
        }
        cpq_conninfoFree(options)
    }

    /// Performs the next step of connecting. May block while another host's name is looked up.
    func connect() -> Progress {
        switch cpq_connectPoll(raw) {
        case PGRES_POLLING_READING: return .reading
        case PGRES_POLLING_WRITING: return .writing
        case PGRES_POLLING_OK:
            cpq_setnonblocking(raw, 1)
            return .connected
        default: return .failed(connectionError)
        }
    }

    /// The socket, which may change with each step of connecting; negative if there is none.
    var descriptor: Int32 { cpq_socket(raw) }

    /// Why the connection does not work.
    var connectionError: PostgresError {
        PostgresError(
            text(cpq_errorMessage(raw), fallback: "the connection was lost"),
            user: cpq_user(raw).map { String(cString: $0) } ?? "")
    }

    func send(_ sql: String) throws(PostgresError) {
        guard cpq_sendQuery(raw, sql) == 1 else { throw connectionError }
    }

    /// Reads what has arrived.
    func consumeInput() throws(PostgresError) {
        guard cpq_consumeInput(raw) == 1 else { throw connectionError }
    }

    /// Whether the next result is still incomplete.
    var isBusy: Bool { cpq_isBusy(raw) == 1 }

    /// The next result; nil if the statement is complete. Call it only while `isBusy` is false.
    func nextResult() -> ServerResult? {
        guard let result = cpq_getResult(raw) else { return nil }
        defer { cpq_clear(result) }
        switch cpq_resultStatus(result) {
        case PGRES_TUPLES_OK: return .rows(rows(result))
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return .done
        case PGRES_COPY_OUT, PGRES_COPY_BOTH: return .copy
        default: return .failed(error(result))
        }
    }

    /// The result of reading copied data.
    enum CopyRead { case data, nothingYet, ended }

    /// Calls `body` with the next message of copied data.
    func readCopyData(_ body: (Span<UInt8>) -> Void) throws(PostgresError) -> CopyRead {
        var buffer: UnsafeMutablePointer<CChar>?
        let count = cpq_getCopyData(raw, &buffer, 1)
        if let buffer, count > 0 {
            body(UnsafeRawBufferPointer(start: buffer, count: Int(count)).bindMemory(to: UInt8.self).span)
            cpq_freemem(buffer)
            return .data
        }
        switch count {
        case 0: return .nothingYet
        case -1: return .ended
        default: throw connectionError
        }
    }

    /// Queues a message of copied data.
    func send(copyData bytes: [UInt8]) throws(PostgresError) {
        let status = bytes.withUnsafeBytes { bytes in
            cpq_putCopyData(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
        }
        guard status >= 0 else { throw connectionError }
    }

    /// Sends what is queued; returns false if the socket currently accepts no more.
    func flush() throws(PostgresError) -> Bool {
        let status = cpq_flush(raw)
        guard status >= 0 else { throw connectionError }
        return status == 0
    }

    private func rows(_ result: OpaquePointer) -> [[String?]] {
        (0..<cpq_ntuples(result)).map { row in
            (0..<cpq_nfields(result)).map { column in
                guard cpq_getisnull(result, row, column) == 0, let value = cpq_getvalue(result, row, column) else {
                    return nil
                }
                return String(cString: value)
            }
        }
    }

    private func error(_ result: OpaquePointer) -> PostgresError {
        // Codes of <postgres_ext.h>: PG_DIAG_SQLSTATE and others are macros for characters.
        func field(_ code: Character) -> String {
            text(cpq_resultErrorField(result, Int32(code.asciiValue ?? 0)), fallback: "")
        }
        let message = field("M")
        return PostgresError(
            message.isEmpty ? text(cpq_resultErrorMessage(result), fallback: "the statement failed") : message,
            code: field("C"), detail: field("D"), hint: field("H"))
    }

    /// A message without its line ends, and without the password.
    private func text(_ message: UnsafePointer<CChar>?, fallback: String) -> String {
        guard let message else { return fallback }
        var text = String(cString: message).split(separator: "\n").map { $0.drop { $0 == "\t" || $0 == " " } }
            .joined(separator: "; ")
        if let password = cpq_pass(raw).map({ String(cString: $0) }) {
            text = SecretText.hide(password, in: text, user: cpq_user(raw).map { String(cString: $0) } ?? "")
        }
        return text.isEmpty ? fallback : text
    }
}

extension [UInt8] {
    /// Appends a copy of bytes that libpq owns.
    mutating func append(contentsOf bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
