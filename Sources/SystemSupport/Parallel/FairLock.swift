// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// A lock that threads acquire in the order of their calls, each alone or together with others. A waiting thread can
/// give up.
///
/// It blocks the calling thread, so only threads of the pool may wait here. A thread that releases the lock and asks
/// again comes after those that already wait.
package final class FairLock: Sendable {
    private struct Waiter {
        let isShared: Bool
        /// Signalled when this thread has the lock.
        let admission = DispatchSemaphore(value: 0)
    }

    private struct State {
        var isTaken = false
        /// The number of threads that hold the lock together.
        var sharers = 0
        var waiting: [Waiter] = []

        /// Gives the lock to the first waiting threads, as far as it is free.
        mutating func admit() {
            while let first = waiting.first, !isTaken, first.isShared || sharers == 0 {
                if first.isShared { sharers += 1 } else { isTaken = true }
                waiting.removeFirst()
                first.admission.signal()
            }
        }
    }

    private let state = Mutex(State())

    /// How often a waiting thread checks for cancellation.
    private static let patience = DispatchTimeInterval.milliseconds(10)

    package init() {}

    /// Runs `body` with the lock held. Throws `cancelled` if the work was cancelled while it waited.
    package func withLock<Result, Failure: Error>(
        _ cancellation: Cancellation, orThrow cancelled: Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard enter(cancellation, isShared: false) else { throw cancelled }
        defer { leave { $0.isTaken = false } }
        return try body()
    }

    /// Runs `body` with the lock held together with others that share it. Throws `cancelled` if the work was
    /// cancelled while it waited.
    package func withSharedLock<Result, Failure: Error>(
        _ cancellation: Cancellation, orThrow cancelled: Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard enter(cancellation, isShared: true) else { throw cancelled }
        defer { leave { $0.sharers -= 1 } }
        return try body()
    }

    /// The number of threads that hold the lock together.
    package var sharerCount: Int { state.withLock { $0.sharers } }

    /// The number of waiting threads.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func enter(_ cancellation: Cancellation, isShared: Bool) -> Bool {
        let waiter = Waiter(isShared: isShared)
        state.withLock { state in
            state.waiting.append(waiter)
            state.admit()
        }
        var pause = DispatchTimeInterval.nanoseconds(0)
        while waiter.admission.wait(timeout: .now() + pause) == .timedOut {
            if cancellation.isCancelled, giveUp(waiter) { return false }
            pause = Self.patience
        }
        return true
    }

    /// False if the thread has just been given the lock.
    private func giveUp(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.admission === waiter.admission }) else {
                return false
            }
            state.waiting.remove(at: index)
            // The next one may be able to share the lock.
            state.admit()
            return true
        }
    }

    private func leave(_ release: (inout State) -> Void) {
        state.withLock { state in
            release(&state)
            state.admit()
        }
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
