// SPDX-License-Identifier: MIT

/// What a connection that was refused means. libpq gives only the message for these faults, no code.
enum ConnectionFault {
    static func end(_ error: PostgresError) -> FeedSession.End {
        isReplicationRight(error)
            ? .problems(TableProblems([ServerCheck.replicationRight(user: error.user)])) : .lost(error)
    }

    /// Whether the user may connect, but not for replication (PostgreSQL 15's words, and those from 16 on).
    static func isReplicationRight(_ error: PostgresError) -> Bool {
        error.message.contains("must be superuser or replication role to start walsender")
            || error.message.contains("permission denied to start WAL sender")
    }
}
