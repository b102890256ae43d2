// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of one user use of the server together. Safe from any thread.
package final class UserShare: Sendable {
    package let key: UserKey
    /// One for each `Use`.
    private let counts = InlineArray<7, Atomic<Int>> { _ in Atomic(0) }

    package enum Use: Int, Sendable {
        /// Calls in flight.
        case calls
        /// Bytes of answers that the user's connections have not read.
        case unread
        /// The part of `unread` that belongs to answers of which the clients have read nothing yet.
        case untouched
        /// Bytes of incomplete messages, the memory of messages that are being read, and the params of open calls.
        case messages
        /// Bytes of streams' items that wait for the pool.
        case streams
        /// Memory of large messages while they are parsed.
        case reading
        /// Features that watches remember.
        case watched
    }

    package init(_ key: UserKey) { self.key = key }

    package subscript(use: Use) -> Int { counts[use.rawValue].load(ordering: .relaxed) }

    package func add(_ count: Int, to use: Use) { counts[use.rawValue].add(count, ordering: .relaxed) }
}

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
}
