// SPDX-License-Identifier: MIT

/// Which log the data of a revision follow, and up to where they have it.
public struct FollowedLog: Sendable, Equatable {
    /// Identifies the table and how its rows become features. Data of another origin have to be copied again.
    public let origin: String
    /// All transactions that were committed before are in the data, and none after.
    public var mark: LogMark

    public init(origin: String, mark: LogMark) { (self.origin, self.mark) = (origin, mark) }

    public var position: LogPosition { mark.position }
}
