// SPDX-License-Identifier: MIT

/// What the server, or the connection to it, has refused. It holds no secrets.
public struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    public let message: String
    /// The server's code of five characters (SQLSTATE); empty for faults of the connection.
    public let code: String
    public let detail: String
    public let hint: String
    /// Whose connection was refused; empty if that is not what happened.
    let user: String

    init(_ message: String, code: String = "", detail: String = "", hint: String = "", user: String = "") {
        (self.message, self.code, self.detail, self.hint) = (message, code, detail, hint)
        self.user = user
    }

    /// For a person.
    public var description: String {
        [message, detail, hint].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// Whether the connection is lost or was never made, so that only a new one helps.
    var isConnectionFault: Bool { code.isEmpty || code.hasPrefix("08") || code.hasPrefix("57P") }

    /// Codes that the feed reacts to (PostgreSQL, Appendix A).
    enum Code {
        static let objectInUse = "55006"
        static let undefinedObject = "42704"
    }
}
