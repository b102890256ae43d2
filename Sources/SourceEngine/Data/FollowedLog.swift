// SPDX-License-Identifier: MIT
import JSON

/// A log whose changes a source's data contain, and up to which position.
public struct FollowedLog: Sendable, Equatable {
    public let origin: LogOrigin
    /// The data contain all changes of the log up to this mark and none after.
    public var mark: LogMark

    public init(origin: LogOrigin, mark: LogMark) { (self.origin, self.mark) = (origin, mark) }
}

/// Which log data follow.
public enum LogOrigin: Sendable, Hashable {
    /// The data are a copy of a table. The text identifies the table and how its rows become features; if it changes,
    /// the table must be copied again. Any other change of the data ends it.
    case table(String)
    /// A log with a name, whose changes are applied beside others.
    case feed(String)

    /// The name of a feed's log; nil for a table.
    package var feed: String? { if case .feed(let name) = self { name } else { nil } }
}

/// The point at which a reader of the log resumes. Opaque to the engine: equal or not, but in no order.
public struct LogMark: Sendable, Equatable {
    /// The position, as answers have it.
    public var position: String
    /// What the reader needs besides in order to resume.
    public var text: String

    public init(position: String, text: String = "") { (self.position, self.text) = (position, text) }
}

/// The logs that a revision's data follow: one table at most, or any number of feeds.
public struct FollowedLogs: Sendable, Equatable {
    /// The log that changed last is last.
    public private(set) var all: [FollowedLog] = []

    public init(_ all: [FollowedLog] = []) { self.all = all }

    /// The log that changed last.
    public var latest: FollowedLog? { all.last }

    /// The log of the table of which the data are a copy; nil if they are not.
    public var table: FollowedLog? { all.first { $0.origin.feed == nil } }

    /// The logs that are applied beside other changes.
    var feeds: [FollowedLog] { all.filter { $0.origin.feed != nil } }

    public subscript(_ origin: LogOrigin) -> LogMark? { all.first { $0.origin == origin }?.mark }

    /// The logs after a change that led to a position of a log.
    func advanced(to log: FollowedLog) -> FollowedLogs {
        FollowedLogs(
            all.filter { $0.origin != log.origin && !($0.origin.feed == nil && log.origin.feed == nil) } + [log])
    }

    /// The logs after a change that came from none of them.
    var changedOtherwise: FollowedLogs { FollowedLogs(feeds) }
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
    package func json(position: String?) -> JSONValue {
        var object: JSONObject = [
            "position": position.map { .string($0) } ?? .null,
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
