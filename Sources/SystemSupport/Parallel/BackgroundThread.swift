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

    /// Runs the body on a thread that yields to all others, the pool's included, and waits for it. If the system
    /// refuses a thread, the body runs on the calling thread.
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

    /// Runs `work` with each number below `count`: with 0 on the calling thread, with the others on threads of the
    /// caller's priority, and waits for them. If the system refuses a thread, its number is left out.
    static func run(on count: Int, _ work: @Sendable (Int) -> Void) {
        withoutActuallyEscaping(work) { work in
            let threads = (1..<max(1, count)).compactMap { number in start { work(number) } }
            work(0)
            // All threads have ended when this function returns.
            for thread in threads { pthread_join(thread, nil) }
        }
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
