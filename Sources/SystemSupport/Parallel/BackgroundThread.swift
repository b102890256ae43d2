// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import Synchronization

/// Threads for work in the background.
///
/// Invariant: the closure is passed as one retained box, which the thread releases once.
package enum BackgroundThread {
    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// The niceness of `atLowPriority`: above that of the pool's threads, but low enough to get a tenth of a processor
    /// beside threads that never sleep.
    package static let niceness: Int32 = 10

    /// Runs the body on a new thread and does not wait for it. If the system refuses a thread, the body runs on one
    /// of the process's shared threads.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        if !detach(body) { DispatchQueue.global(qos: .utility).async { body() } }
    }

    /// Runs the body on a new thread and does not wait for it; false if the system refuses a thread.
    package static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = start(body) else { return false }
        pthread_detach(thread)
        return true
    }

    /// Runs the body on a thread that yields to all others, the pool's included, and waits for it. If the system refuses a
    /// thread, the body runs on the calling thread.
    package static func atLowPriority<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let outcome = Outcome<Value>()
        let thread = start {
            // On Linux it affects only this thread (setpriority(2)). If it fails, the thread runs at normal priority.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
            let value = body()
            outcome.value.withLock { $0 = value }
        }
        if let thread { pthread_join(thread, nil) }
        return outcome.value.withLock { $0 } ?? body()
    }

    /// Runs `body` for each index below `count`, on `threads` threads of the caller's priority, and waits for them.
    /// Threads take the indexes in ascending order, one at a time. If the system refuses threads, there are fewer.
    ///
    /// For work of many seconds that may use all processors. The process's shared threads stay free for urgent
    /// work.
    package static func forEach(below count: Int, threads: Int, _ body: @Sendable (Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            let next = SharedCounter()
            let work: @Sendable () -> Void = {
                while true {
                    let index = next.take()
                    guard index < count else { return }
                    body(index)
                }
            }
            let crew = (1..<max(1, min(count, threads))).compactMap { _ in start(work) }
            work()
            // All threads have ended when this function returns.
            for thread in crew { pthread_join(thread, nil) }
        }
    }

    private final class SharedCounter: Sendable {
        private let next = Atomic(0)
        func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
    }

    /// Nil if the system refuses a thread.
    private static func start(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if status == 0 { return thread }
        box.release()
        return nil
    }
}
