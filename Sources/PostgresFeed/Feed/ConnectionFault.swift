// SPDX-License-Identifier: MIT

/// Interprets refused connections. libpq reports only a message for these errors, no code.
enum ConnectionFault {
    static func end(_ error: PostgresError) -> FeedSession.End {
        isReplicationRight(error)
            ? .problems(TableProblems([ServerCheck.replicationRight(user: error.user)])) : .lost(error)
    }

    /// Whether the user may connect, but not for replication (in the wording of PostgreSQL 15, and of 16 and later).
    static func isReplicationRight(_ error: PostgresError) -> Bool {
        error.message.contains("must be superuser or replication role to start walsender")
            || error.message.contains("permission denied to start WAL sender")
    }
}
