// SPDX-License-Identifier: MIT
import Glibc

/// The processor time of one thread, which other threads may ask for.
package struct ThreadClock: Sendable {
    private let clock: clockid_t

    /// Nil if the system has no such clock.
    package static var ofThisThread: ThreadClock? {
        var clock = clockid_t()
        return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? ThreadClock(clock: clock) : nil
    }

    /// In nanoseconds since the thread began; nil once it has ended.
    package func now() -> UInt64? {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
