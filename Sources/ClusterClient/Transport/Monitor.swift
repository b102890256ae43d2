// SPDX-License-Identifier: MIT
import Synchronization

/// State that threads and tasks share, and whose changes tasks can wait for.
final class Monitor<State: ~Copyable>: Sendable {
    private struct Guarded: ~Copyable {
        var state: State
        /// The number of announced changes.
        var changes: UInt64 = 0
        var waiters: [CheckedContinuation<Void, Never>] = []

        init(_ state: consuming State) { self.state = state }

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    private let guarded: Mutex<Guarded>

    init(_ state: consuming sending State) { guarded = Mutex(Guarded(state)) }

    /// Accesses the state without waking anybody.
    func withLock<Result: ~Copyable>(_ body: (inout State) throws -> sending Result) rethrows -> sending Result {
        try guarded.withLock { try body(&$0.state) }
    }

    /// Changes the state, and lets the waiting tasks look at it again.
    func change<Result>(_ body: (inout State) throws -> sending Result) rethrows -> sending Result {
        let result = try withLock(body)
        announce()
        return result
    }

    /// Lets the waiting tasks look at the state again.
    func announce() {
        let waiters = guarded.withLock { guarded in
            guarded.changes &+= 1
            return guarded.takeWaiters()
        }
        waiters.forEach { $0.resume() }
    }

    /// Waits until `take` returns a value, and returns that. Throws what `take` throws, or `CancellationError`.
    func wait<Result>(_ take: (inout State) throws -> sending Result?) async throws -> sending Result {
        while true {
            try Task.checkCancellation()
            let (result, seen) = try guarded.withLock { (try take(&$0.state), $0.changes) }
            if let result { return result }
            await withTaskCancellationHandler {
                await waitForChange(after: seen)
            } onCancel: {
                announce()
            }
        }
    }

    private func waitForChange(after seen: UInt64) async {
        await withCheckedContinuation { continuation in
            let resumesNow = guarded.withLock { guarded in
                if guarded.changes != seen || Task.isCancelled { return true }
                guarded.waiters.append(continuation)
                return false
            }
            if resumesNow { continuation.resume() }
        }
    }
}
