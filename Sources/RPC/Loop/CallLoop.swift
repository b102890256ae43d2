// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// The loop that a connection's calls run on. Calls use only this protocol, so that tests can step a loop by hand.
package protocol CallLoop: AnyObject {
    /// Runs `body` on a thread of the pool, then `completion` on the loop's.
    ///
    /// - Parameter isLong: whether other work should preempt it.
    func work(isLong: Bool, _ body: @escaping @Sendable () -> Void, completion: @escaping () -> Void)

    /// Calls back on the loop's thread as long as the result is retained.
    ///
    /// - Parameters:
    ///   - delay: until the first call, in milliseconds.
    ///   - interval: between further calls, in milliseconds; 0 for none.
    func timer(after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void) -> AnyObject

    /// Runs a function on the loop's thread soon. Safe from any thread.
    var post: @Sendable (@escaping @Sendable () -> Void) -> Void { get }

    /// The time that the loop has spent polling its sockets instead of sleeping, in nanoseconds.
    var pollingNanoseconds: UInt64 { get }
}

extension CallLoop {
    /// Runs `body` on a thread of the pool, then `completion` on the loop's.
    func work(_ body: @escaping @Sendable () -> Void, completion: @escaping () -> Void) {
        work(isLong: false, body, completion: completion)
    }
}

/// Carries a value of a loop's thread through a closure that another thread passes on.
///
/// Only the loop's thread that made it reads it, so it may be sent.
package struct OnLoop<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}

/// The system's monotonic clock, which is never set.
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary moment in the past.
    package static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

/// The system's clock, which may be set.
package enum WallClock {
    /// Seconds since 1970.
    package static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// A flag that one thread raises and another lowers.
package final class Signal: Sendable {
    private let isRaised = Atomic<Bool>(false)

    /// Raises the flag and returns whether it was lowered before.
    package func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }

    package func lower() { isRaised.store(false, ordering: .sequentiallyConsistent) }
}
