// SPDX-License-Identifier: MIT

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
