// SPDX-License-Identifier: MIT
import Synchronization

/// What one user's connections take of the server together. Safe from any thread.
package final class UserUse: Sendable {
    package let userID: UInt32
    private let inFlight = Atomic<Int>(0)

    package init(userID: UInt32) { self.userID = userID }

    package var calls: Int { inFlight.load(ordering: .relaxed) }
    package func addCalls(_ count: Int) { inFlight.add(count, ordering: .relaxed) }
}

/// The use of every user who has a connection open. Safe from any thread.
package final class UserTable: Sendable {
    private let uses = Mutex<[UInt32: (use: UserUse, connections: Int)]>([:])

    /// Counts a connection in, unless the user has as many already.
    ///
    /// - Parameter most: nil where there is no limit.
    package func enter(_ userID: UInt32, most: Int? = nil) -> UserUse? {
        uses.withLock { uses in
            let entry = uses[userID] ?? (UserUse(userID: userID), 0)
            if let most, entry.connections >= most { return nil }
            uses[userID] = (entry.use, entry.connections + 1)
            return entry.use
        }
    }

    /// Counts a connection out; users without any are forgotten.
    package func leave(_ use: UserUse) {
        uses.withLock { uses in
            let left = (uses[use.userID]?.connections ?? 0) - 1
            uses[use.userID] = left > 0 ? (use, left) : nil
        }
    }

    package func connections(of userID: UInt32) -> Int { uses.withLock { $0[userID]?.connections ?? 0 } }
}
