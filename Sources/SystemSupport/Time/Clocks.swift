// SPDX-License-Identifier: MIT
import Glibc

/// A moment of the wall clock, written as RFC 3339 in UTC with milliseconds.
public struct Timestamp: Sendable, Equatable, Comparable {
    /// Milliseconds since 1970.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The moment of the call.
    public static var now: Timestamp {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return Timestamp(milliseconds: Int64(moment.tv_sec) * 1000 + Int64(moment.tv_nsec) / 1_000_000)
    }

    public static func < (first: Timestamp, second: Timestamp) -> Bool {
        first.milliseconds < second.milliseconds
    }

    /// Such as `2026-01-31T09:05:00.250Z`.
    public var text: String {
        // Rounded down, so that moments before 1970 are correct too.
        var fraction = milliseconds % 1000
        if fraction < 0 { fraction += 1000 }
        let digits = String(fraction)
        let zeros = String(repeating: "0", count: 3 - digits.count)
        let moment = UTCTime.text(Int((milliseconds - fraction) / 1000), "%Y-%m-%dT%H:%M:%S")
        return "\(moment).\(zeros)\(digits)Z"
    }
}

/// Moments in UTC as text.
package enum UTCTime {
    /// A moment in a pattern of strftime(3), in English, since the process never sets a locale.
    ///
    /// - Parameter seconds: since 1970.
    /// - Returns: empty if the year does not fit, or if the text would have 64 bytes or more.
    package static func text(_ seconds: Int, _ pattern: String) -> String {
        var moment = seconds
        var parts = tm()
        guard gmtime_r(&moment, &parts) != nil else { return "" }
        return String(unsafeUninitializedCapacity: 64) { text in
            text.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, pattern, &parts) }
        }
    }
}

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
