// SPDX-License-Identifier: MIT
import JSON
import ReplicationLog

/// The log that a revision's data follow, and up to which position.
public struct FollowedLog: Sendable, Equatable {
    /// Identifies the table and how its rows become features. If the origin changes, the table must be copied again.
    public let origin: String
    /// The data contain all transactions committed before this mark and none after.
    public var mark: LogMark

    public init(origin: String, mark: LogMark) { (self.origin, self.mark) = (origin, mark) }

    public var position: LogPosition { mark.position }
}

/// The point at which a reader of the log resumes.
public struct LogMark: Sendable, Equatable {
    public var position: LogPosition
    /// What the reader needs in order to resume. Opaque to everything else.
    public var text: String

    public init(position: LogPosition, text: String) { (self.position, self.text) = (position, text) }
}

/// How far a source has followed its table, and what prevents it from continuing.
public struct ReplicationStatus: Sendable, Equatable {
    public enum State: String, Sendable {
        /// All rows are being copied. Until then, older data answer if there are any.
        case copying
        /// The server sends its changes.
        case following
        /// No changes arrive: the server cannot be reached, or refuses.
        case waiting
    }

    /// The table's name for messages.
    public let table: String
    public var state: State
    /// Bytes of the server's log that are not in the data yet.
    public var lagBytes: UInt64 = 0
    /// The age of the oldest transaction that is not in the data yet, or the time since the server was last heard, in
    /// milliseconds; 0 if there is none.
    public var lagMilliseconds: Double = 0
    /// Rows that were left out since the daemon started because they are not features, by reason.
    public var skippedReasons: [String: Int] = [:]
    /// What is wrong and what to do, for the operator.
    public var note: String?
    /// Whether the operator must act: the table cannot be followed as it is.
    public var isStale = false

    public init(table: String, state: State) { (self.table, self.state) = (table, state) }

    /// `{"position":…,"lagBytes":n,"lagMs":n,"state":…,"table":…}`, and `skippedReasons` if rows were left out.
    package func json(position: LogPosition?) -> JSONValue {
        var object: JSONObject = [
            "position": position.map { .string($0.description) } ?? .null,
            "lagBytes": .number(Double(lagBytes)), "lagMs": .number(lagMilliseconds.rounded()),
            "state": .string(state.rawValue), "table": .string(table),
        ]
        if !skippedReasons.isEmpty {
            let reasons = skippedReasons.sorted { $0.key < $1.key }
            object["skippedReasons"] = .object(JSONObject(reasons.map { ($0.key, .number(Double($0.value))) }))
        }
        return .object(object)
    }
}
