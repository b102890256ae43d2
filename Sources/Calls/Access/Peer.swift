// SPDX-License-Identifier: MIT

/// Who is at the other end of a connection.
public struct Peer: Sendable, Equatable {
    public var processID: Int32
    public var userID: UInt32
    public var groupID: UInt32
    /// Its supplementary groups.
    public var groups: [UInt32]

    public init(processID: Int32, userID: UInt32, groupID: UInt32, groups: [UInt32] = []) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
        self.groups = groups
    }

    /// Nobody whom the system names.
    public static let unknown = Peer(processID: 0, userID: .max, groupID: .max)
}
