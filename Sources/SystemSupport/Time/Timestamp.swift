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
        // Rounded down, so that moments before 1970 come out right too.
        var fraction = milliseconds % 1000
        if fraction < 0 { fraction += 1000 }
        var seconds = time_t((milliseconds - fraction) / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let time = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        return Self.join(date, widths: [4, 2, 2], by: "-") + "T"
            + Self.join(time, widths: [2, 2, 2], by: ":")
            + "." + Self.pad(Int(fraction), to: 3) + "Z"
    }

    private static func join(_ parts: [Int], widths: [Int], by separator: String) -> String {
        zip(parts, widths).map(pad).joined(separator: separator)
    }

    private static func pad(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
