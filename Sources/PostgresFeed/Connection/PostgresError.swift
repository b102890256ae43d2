// SPDX-License-Identifier: MIT

/// An error from the server or of the connection to it. It contains no secrets.
public struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    public let message: String
    /// The server's code of five characters (SQLSTATE); empty for connection errors.
    public let code: String
    public let detail: String
    public let hint: String
    /// The user whose connection was refused; empty for other errors.
    let user: String

    init(_ message: String, code: String = "", detail: String = "", hint: String = "", user: String = "") {
        (self.message, self.code, self.detail, self.hint) = (message, code, detail, hint)
        self.user = user
    }

    /// A message for a person.
    public var description: String {
        [message, detail, hint].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// Whether the connection was lost or never made, so that only a new one helps.
    var isConnectionFault: Bool { code.isEmpty || code.hasPrefix("08") || code.hasPrefix("57P") }

    /// The error with what to do, if the server has no connection for replication to spare. libpq reports only a
    /// message for refused connections, no code.
    var explained: PostgresError {
        guard let limit = message.firstMatch(of: /exceeds max_wal_senders \(currently ([0-9]{1,6})\)/),
            let count = Int(limit.1)
        else { return self }
        return PostgresError(
            message, code: code,
            hint: "each daemon takes one for each table that it follows; run: "
                + "ALTER SYSTEM SET max_wal_senders = \(count + 10); -- then restart the server",
            user: user)
    }

    /// Whether the user may connect, but not for replication (in the wording of PostgreSQL 15, and of 16 and later).
    var refusesReplication: Bool {
        message.contains("must be superuser or replication role to start walsender")
            || message.contains("permission denied to start WAL sender")
    }

    /// Error codes to which the feed reacts (PostgreSQL, Appendix A).
    enum Code {
        static let objectInUse = "55006"
        static let undefinedObject = "42704"
    }
}

/// Keeps passwords out of messages. libpq does not repeat them, but a server or a proxy might.
enum SecretText {
    /// The text with `***` for each occurrence of the password as a word. A part of another word is no secret, and
    /// replacing it would spell the password. Neither is the user's name, which messages contain anyway.
    static func hide(_ password: String, in text: String, user: String) -> String {
        guard !password.isEmpty, password != user else { return text }
        var (hidden, rest) = ("", text[...])
        while let range = rest.firstRange(of: password) {
            let before = rest[..<range.lowerBound]
            let isWord =
                !isWordCharacter(before.last ?? hidden.last) && !isWordCharacter(rest[range.upperBound...].first)
            hidden += before
            hidden += isWord ? "***" : password
            rest = rest[range.upperBound...]
        }
        return hidden + rest
    }

    private static func isWordCharacter(_ character: Character?) -> Bool {
        guard let character else { return false }
        return character.isLetter || character.isNumber || character == "_"
    }
}
