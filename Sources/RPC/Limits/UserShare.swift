// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of one user use of the server together. Safe from any thread.
package final class UserShare: Sendable {
    package let key: UserKey
    private let inFlight = Atomic<Int>(0)
    private let unreadBytes = Atomic<Int>(0)
    private let untouchedBytes = Atomic<Int>(0)
    private let inputBytes = Atomic<Int>(0)
    private let streamBytes = Atomic<Int>(0)
    private let readingBytes = Atomic<Int>(0)
    private let watched = Atomic<Int>(0)

    package init(_ key: UserKey) { self.key = key }

    /// Calls in flight.
    package var calls: Int { inFlight.load(ordering: .relaxed) }
    package func addCalls(_ count: Int) { inFlight.add(count, ordering: .relaxed) }

    /// Bytes of answers that the user's connections have not read.
    package var unread: Int { unreadBytes.load(ordering: .relaxed) }
    package func addUnread(_ count: Int) { unreadBytes.add(count, ordering: .relaxed) }

    /// The part of `unread` that belongs to answers of which the clients have read nothing yet.
    package var untouched: Int { untouchedBytes.load(ordering: .relaxed) }
    package func addUntouched(_ count: Int) { untouchedBytes.add(count, ordering: .relaxed) }

    /// Bytes of input from the user's clients, of one kind.
    package func input(_ part: InputBudget.Part) -> Int {
        switch part {
        case .messages: inputBytes.load(ordering: .relaxed)
        case .streams: streamBytes.load(ordering: .relaxed)
        }
    }

    package func addInput(_ count: Int, _ part: InputBudget.Part) {
        switch part {
        case .messages: inputBytes.add(count, ordering: .relaxed)
        case .streams: streamBytes.add(count, ordering: .relaxed)
        }
    }

    /// Memory of the user's large messages while they are parsed.
    package var reading: Int { readingBytes.load(ordering: .relaxed) }
    package func addReading(_ count: Int) { readingBytes.add(count, ordering: .relaxed) }

    /// Features that the user's watches remember.
    package var watchedFeatures: Int { watched.load(ordering: .relaxed) }
    package func addWatched(_ count: Int) { watched.add(count, ordering: .relaxed) }
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

    /// The number of users with open connections.
    package var count: Int { shares.withLock { $0.count } }
}
