// SPDX-License-Identifier: MIT
import Glibc

/// A moment of the wall clock, written as RFC 3339 in UTC with milliseconds.
public struct Timestamp: Sendable, Equatable, Comparable {
    /// Milliseconds since 1970.
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

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
