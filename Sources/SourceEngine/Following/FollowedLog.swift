// SPDX-License-Identifier: MIT
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
