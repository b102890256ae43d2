// SPDX-License-Identifier: MIT
import Glibc

/// The system's monotonic clock, which is never set.
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary moment in the past.
    package static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
