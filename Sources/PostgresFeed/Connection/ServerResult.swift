// SPDX-License-Identifier: MIT

/// The server's result of a statement.
enum ServerResult: Sendable, Equatable {
    /// The values of rows, in text form.
    case rows([[String?]])
    /// A statement without rows has completed.
    case done
    /// The server sends copied rows next.
    case copyOut
    /// Both sides send data: replication has begun.
    case copyBoth
    case failed(PostgresError)
}
