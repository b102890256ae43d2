// SPDX-License-Identifier: MIT

/// Why a table cannot be followed, and the SQL that solves the problem.
public struct TableProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        case connection, version, walLevel, standby, rights, table, key, geometry, columns, replicaIdentity,
            publication
        case slot, type
    }

    public let kind: Kind
    /// A sentence without a period.
    public let message: String
    /// The statements that solve it, each with its semicolon; empty if there are none.
    public let sql: [String]

    init(_ kind: Kind, _ message: String, sql: [String] = []) {
        (self.kind, self.message, self.sql) = (kind, message, sql)
    }

    public var description: String {
        sql.isEmpty ? message : message + "; run: " + sql.joined(separator: " ")
    }
}
