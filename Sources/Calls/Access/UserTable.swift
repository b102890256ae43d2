// SPDX-License-Identifier: MIT
import Synchronization

/// The share of every user who has a connection open. Safe from any thread.
package final class UserTable: Sendable {
    private let shares = Mutex<[UserKey: (share: UserShare, connections: Int)]>([:])

    package init() {}

    /// Adds a connection, unless the user has reached the limit.
    ///
    /// - Parameter most: the limit; nil if there is none.
    package func enter(_ key: UserKey, most: Int? = nil) -> UserShare? {
        shares.withLock { shares in
            let entry = shares[key] ?? (UserShare(key), 0)
            if let most, entry.connections >= most { return nil }
            shares[key] = (entry.share, entry.connections + 1)
            return entry.share
        }
    }

    /// Removes a connection. Users without connections are removed.
    package func leave(_ share: UserShare) {
        shares.withLock { shares in
            let left = (shares[share.key]?.connections ?? 0) - 1
            shares[share.key] = left > 0 ? (share, left) : nil
        }
    }

    package func connections(of key: UserKey) -> Int { shares.withLock { $0[key]?.connections ?? 0 } }

    /// The number of users with open connections.
    package var count: Int { shares.withLock { $0.count } }
}
