// SPDX-License-Identifier: MIT

/// Interprets refused connections. libpq reports only a message for these errors, no code.
enum ConnectionFault {
    static func end(_ error: PostgresError) -> FeedSession.End {
        isReplicationRight(error)
            ? .problems(TableProblems([ServerCheck.replicationRight(user: error.user)]))
            : .lost(explained(error))
    }

    /// The error with what to do, if the server has no connection for replication to spare.
    static func explained(_ error: PostgresError) -> PostgresError {
        guard let limit = error.message.firstMatch(of: /exceeds max_wal_senders \(currently ([0-9]{1,6})\)/),
            let count = Int(limit.1)
        else { return error }
        return PostgresError(
            error.message, code: error.code,
            hint: "each daemon takes one for each table that it follows; run: "
                + "ALTER SYSTEM SET max_wal_senders = \(count + 10); -- then restart the server",
            user: error.user)
    }

    /// Whether the user may connect, but not for replication (in the wording of PostgreSQL 15, and of 16 and
    /// later).
    static func isReplicationRight(_ error: PostgresError) -> Bool {
        error.message.contains("must be superuser or replication role to start walsender")
            || error.message.contains("permission denied to start WAL sender")
    }
}
