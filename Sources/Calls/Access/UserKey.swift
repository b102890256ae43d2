// SPDX-License-Identifier: MIT

/// Identifies a user, whose connections share one user's limits.
package enum UserKey: Hashable, Sendable {
    case user(UInt32)
    /// All callers over TCP.
    case http
    /// A process whose user is unknown.
    case unknown

    /// A number unique to the key.
    var number: UInt64 {
        switch self {
        case .user(let user): UInt64(user)
        case .http: 1 << 32
        case .unknown: 1 << 33
        }
    }

    /// The key of a client process of a Unix socket.
    package init(_ peer: Peer) { self = peer.hasUser ? .user(peer.userID) : .unknown }
}
