// SPDX-License-Identifier: MIT
import Dispatch
import Glibc

/// Work that stands back for all else, the pool's threads included.
///
/// Invariant: the closure is handed over as one retained box, which the thread takes back once.
enum BackgroundThread {
    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// How far it stands back: further than the pool's threads, yet a tenth of a processor is left to it
    /// beside threads that never rest.
    static let niceness: Int32 = 10

    /// Runs the body on a thread of its own, which nobody waits for; where the system has none to give, on
    /// one of those that the process has.
    static func run(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Of this thread alone (setpriority(2), on Linux). Where it is refused, all goes on as before.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, BackgroundThread.niceness)
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            box.release()
            return DispatchQueue.global(qos: .utility).async { body() }
        }
        pthread_detach(thread)
    }
}
