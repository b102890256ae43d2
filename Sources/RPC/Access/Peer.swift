// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// The client of a connection.
public struct Peer: Sendable, Equatable {
    public var processID: Int32
    public var userID: UInt32
    public var groupID: UInt32
    /// Its supplementary groups.
    public var groups: [UInt32]
    /// The address and port of a client over TCP, whose user is unknown; nil for a client of a Unix socket.
    public private(set) var address: String?
    /// The member of the configuration that grants all clients of its transport their right; nil if `access` does.
    private(set) var rightMember: String?

    public init(processID: Int32, userID: UInt32, groupID: UInt32, groups: [UInt32] = []) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
        self.groups = groups
    }

    /// The process at the other end of a Unix socket, as the system reports it; unknown if it does not.
    package init(_ process: (processID: Int32, userID: UInt32, groupID: UInt32)?, groups: @autoclosure () -> [UInt32]) {
        guard let process else {
            self = .unknown
            return
        }
        self.init(processID: process.processID, userID: process.userID, groupID: process.groupID, groups: groups())
    }

    /// A client whose user is unknown.
    public static let unknown = Peer(processID: 0, userID: .max, groupID: .max)

    /// A client over TCP.
    ///
    /// - Parameter rightMember: the member of the configuration that grants its transport's clients their right.
    package static func remote(_ address: String, rightMember: String) -> Peer {
        var peer = unknown
        peer.address = address
        peer.rightMember = rightMember
        return peer
    }

    /// Whether its user is known.
    public var hasUser: Bool { userID != Self.unknown.userID }
}

extension Peer {
    /// The error for this caller, who lacks the right that a method needs.
    package func denial(of method: MethodDeclaration) -> RPCError {
        let right = method.right.name
        let member = rightMember ?? "access.\(right)"
        return RPCError(
            .permissionDenied,
            "\(method.shortName) needs the right \"\(right)\", which \(lacking). Whoever runs clusterd grants it in the configuration, under \(member).",
            details: ["right": .string(right)])
    }

    /// The clause of messages that says who lacks the right. All callers over TCP have the same right.
    var lacking: String { hasUser ? "your user does not have" : "callers over TCP do not have" }
}

/// Identifies a user, whose connections share one user's limits.
package enum UserKey: Hashable, Sendable {
    case user(UInt32)
    /// All callers whom only a network's address identifies.
    case remote
    /// A process whose user is unknown.
    case unknown

    /// A number unique to the key.
    var number: UInt64 {
        switch self {
        case .user(let user): UInt64(user)
        case .remote: 1 << 32
        case .unknown: 1 << 33
        }
    }

    package init(_ peer: Peer) {
        self = peer.hasUser ? .user(peer.userID) : peer.address == nil ? .unknown : .remote
    }
}
