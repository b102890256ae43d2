// SPDX-License-Identifier: MIT
import Synchronization

/// One lock for each user, so that one user's work delays only that user. Safe from any
/// thread, but blocks: only for threads of the pool.
package final class UserLocks: Sendable {
    private struct Entry {
        let lock = FairLock()
        /// The number of holders and waiters.
        var holders = 0
    }

    private let entries = Mutex<[UInt64?: Entry]>([:])

    package init() {}

    /// Runs `body` with the lock of the cancellation's user held, or throws `cancelled` if the caller gave up waiting.
    package func withLock<Result, Failure: Error>(
        _ cancellation: Cancellation, orThrow cancelled: Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let user = cancellation.user
        let lock = entries.withLock { entries in
            entries[user, default: Entry()].holders += 1
            return entries[user]?.lock ?? FairLock()
        }
        defer {
            entries.withLock { entries in
                entries[user]?.holders -= 1
                if entries[user]?.holders == 0 { entries[user] = nil }
            }
        }
        return try lock.withLock(cancellation, orThrow: cancelled, body)
    }

    /// The number of users with running or waiting work.
    package var userCount: Int { entries.withLock { $0.count } }
}
