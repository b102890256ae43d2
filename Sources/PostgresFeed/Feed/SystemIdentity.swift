// SPDX-License-Identifier: MIT
import ReplicationLog

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
