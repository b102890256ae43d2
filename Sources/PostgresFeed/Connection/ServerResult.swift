// SPDX-License-Identifier: MIT

/// What the server answers to a statement.
enum ServerResult: Sendable, Equatable {
    /// The values in text form, row by row.
    case rows([[String?]])
    /// A statement without rows is done.
    case done
    /// The server sends copied rows next.
    case copyOut
    /// Both sides send data: replication has begun.
    case copyBoth
    case failed(PostgresError)
}
