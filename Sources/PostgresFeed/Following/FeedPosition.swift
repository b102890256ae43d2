// SPDX-License-Identifier: MIT
import ReplicationLog

/// A source's position in the log of one server, and what distinguishes that server's history from others.
///
/// Its text is `SYSTEM:TIMELINE:TABLE:LAYOUT:LOG:STORAGE`, such as
/// `7312345678901234567:1:16385:97c3a0b1:0/16B3748:3f1c-9d02-77-5e`. Version 0.2.0 wrote it without the last part.
public struct FeedPosition: Sendable, Equatable, LosslessStringConvertible {
    /// The server's system identifier, which its data directory got when it was created.
    public let system: UInt64
    /// The timeline, which increases with each failover and each point-in-time recovery.
    public let timeline: UInt32
    /// The table's object id; a table that was dropped and recreated has a different one.
    public let table: UInt32
    /// Identifies how rows become features: the declaration, and the columns and their types.
    let layout: UInt32
    /// The position in the log: the data contain all transactions that ended before it.
    public let log: LogPosition
    /// What the rows lay in when the table was copied; nil if that is unknown.
    let storage: TableStorage?

    init(
        system: UInt64, timeline: UInt32, table: UInt32, layout: UInt32, log: LogPosition, storage: TableStorage? = nil
    ) {
        (self.system, self.timeline, self.table) = (system, timeline, table)
        (self.layout, self.log, self.storage) = (layout, log, storage)
    }

    /// Reads what `description` writes; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5 || parts.count == 6, let system = UInt64(parts[0]),
            let timeline = UInt32(parts[1]),
            let table = UInt32(parts[2]), let layout = UInt32(parts[3], radix: 16),
            let log = LogPosition(parts[4])
        else { return nil }
        let storage = parts.count == 6 ? TableStorage(parts[5]) : nil
        guard parts.count == 5 || storage != nil else { return nil }
        self.init(system: system, timeline: timeline, table: table, layout: layout, log: log, storage: storage)
    }

    public var description: String {
        let text = "\(system):\(timeline):\(table):\(String(layout, radix: 16)):\(log)"
        return storage.map { "\(text):\($0)" } ?? text
    }

    /// Whether the positions belong to the same history, so that they can be compared.
    func isOfSameHistory(as other: FeedPosition) -> Bool { moved(to: other.log) == other }

    /// The same history at another position of the log.
    func moved(to log: LogPosition) -> FeedPosition {
        FeedPosition(system: system, timeline: timeline, table: table, layout: layout, log: log, storage: storage)
    }
}

/// The answer to `IDENTIFY_SYSTEM`, which distinguishes a server's history from others.
struct SystemIdentity: Equatable {
    var system: UInt64 = 0
    var timeline: UInt32 = 0
    /// The end of the server's log.
    var end = LogPosition(rawValue: 0)

    init() {}

    init?(_ rows: [[String?]]) {
        guard let row = rows.first, row.count >= 3, let system = row[0].flatMap({ UInt64($0) }),
            let timeline = row[1].flatMap({ UInt32($0) }), let end = row[2].flatMap({ LogPosition($0) })
        else { return nil }
        (self.system, self.timeline, self.end) = (system, timeline, end)
    }

    func position(_ plan: FollowPlan, at log: LogPosition) -> FeedPosition {
        FeedPosition(
            system: system, timeline: timeline, table: plan.table.id, layout: plan.fingerprint, log: log,
            storage: plan.storage)
    }
}
