// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import Synchronization

/// Threads for work that nobody waits for.
///
/// Invariant: the closure is handed over as one retained box, which the thread takes back once.
package enum BackgroundThread {
    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// How far `standingBack` does so: further than the pool's threads, yet a tenth of a processor is left to
    /// it beside threads that never rest.
    package static let niceness: Int32 = 10

    /// Runs the body on a thread of its own, which nobody waits for; where the system has none to give, on
    /// one of those that the process has.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        guard let thread = start(body) else {
            return DispatchQueue.global(qos: .utility).async { body() }
        }
        pthread_detach(thread)
    }

    /// Runs the body on a thread that stands back for all else, the pool's threads included, and waits for it;
    /// where the system has none to give, on this one.
    package static func standingBack<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let outcome = Outcome<Value>()
        let thread = start {
            // Of this thread alone (setpriority(2), on Linux). Where it is refused, all goes on as before.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
            let value = body()
            outcome.value.withLock { $0 = value }
        }
        if let thread { pthread_join(thread, nil) }
        return outcome.value.withLock { $0 } ?? body()
    }

    /// Nil where the system has no thread to give.
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
