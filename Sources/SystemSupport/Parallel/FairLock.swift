// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// A lock that threads acquire in the order of their calls, each alone or together with others. A waiting thread can give up.
///
/// It blocks the calling thread, so only threads of the pool may wait here. A thread that releases the lock and asks again comes
/// after those that already wait.
///
/// `@unchecked Sendable` holds because the variables are read and written only with `mutex` locked, and both
/// primitives are made for sharing: they stay at one address from `init` to `deinit`.
package final class FairLock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isTaken = false
    /// The number of threads that hold the lock together.
    private var sharers = 0
    /// The numbers of the waiting threads, in order.
    private var waiting: [UInt64] = []
    private var lastNumber: UInt64 = 0

    /// How often a waiting thread checks for cancellation, in nanoseconds.
    private static let patience = 10_000_000

    package init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // The wall clock may jump, so waiting uses the monotonic one.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. Throws `cancelled` if the work was cancelled while it waited.
    package func withLock<Result, Failure: Error>(
        _ cancellation: Cancellation, orThrow cancelled: Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard enter(cancellation, isShared: false) else { throw cancelled }
        defer { leave(isShared: false) }
        return try body()
    }

    /// Runs `body` with the lock held together with others that share it. Throws `cancelled` if the work was cancelled
    /// while it waited.
    package func withSharedLock<Result, Failure: Error>(
        _ cancellation: Cancellation, orThrow cancelled: Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard enter(cancellation, isShared: true) else { throw cancelled }
        defer { leave(isShared: true) }
        return try body()
    }

    /// The number of threads that hold the lock together.
    package var sharerCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return sharers
    }

    /// The number of waiting threads.
    package var waitingCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return waiting.count
    }

    private func enter(_ cancellation: Cancellation, isShared: Bool) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        lastNumber += 1
        let number = lastNumber
        waiting.append(number)
        defer {
            waiting.removeAll { $0 == number }
            // If this thread gave up, another one may be next.
            pthread_cond_broadcast(condition)
        }
        while isTaken || (!isShared && sharers > 0) || waiting.first != number {
            if cancellation.isCancelled { return false }
            var moment = timespec()
            clock_gettime(CLOCK_MONOTONIC, &moment)
            moment.tv_nsec += Self.patience
            if moment.tv_nsec >= 1_000_000_000 {
                moment.tv_nsec -= 1_000_000_000
                moment.tv_sec += 1
            }
            pthread_cond_timedwait(condition, mutex, &moment)
        }
        if isShared { sharers += 1 } else { isTaken = true }
        return true
    }

    private func leave(isShared: Bool) {
        pthread_mutex_lock(mutex)
        if isShared { sharers -= 1 } else { isTaken = false }
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
}

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
