// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Reads and writes dates in the formats of HTTP, and writes those of access logs.
enum HTTPDate {
    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    static func text(_ seconds: Int) -> [UInt8] {
        Array(UTCTime.text(seconds, "%a, %d %b %Y %H:%M:%S GMT").utf8)
    }

    /// Reads a date in any of the three formats of HTTP, in seconds since 1970; nil if the text is none of them.
    ///
    /// - Parameter year: the current year, by which years of two digits are understood.
    static func seconds(_ text: String, year current: Int = Self.year) -> Int? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == "-" }
        let fields: (day: Substring, month: Substring, year: Substring, time: Substring)
        switch parts.count {
        case 6 where parts[5] == "GMT": fields = (parts[1], parts[2], parts[3], parts[4])
        case 5: fields = (parts[2], parts[1], parts[4], parts[3])
        default: return nil
        }
        let clock = fields.time.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], in: 0...23),
            let minute = number(clock[1], in: 0...59), let second = number(clock[2], in: 0...60),
            let day = number(fields.day, in: 1...31), let month = months.firstIndex(of: String(fields.month)),
            var year = number(fields.year, in: 0...9999)
        else { return nil }
        if year < 100 {
            year += current / 100 * 100
            // RFC 9110, section 5.6.7: a date that seems to be more than 50 years ahead is in the past.
            if year > current + 50 { year -= 100 }
        }
        var moment = tm()
        (moment.tm_year, moment.tm_mon, moment.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
        (moment.tm_hour, moment.tm_min, moment.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
        return timegm(&moment)
    }

    private static func number(_ digits: Substring, in range: ClosedRange<Int>) -> Int? {
        guard digits.utf8.count <= 4, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int(digits), range.contains(number)
        else { return nil }
        return number
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static var year: Int { Int(UTCTime.text(now, "%Y")) ?? 1970 }

    /// Such as `06/Nov/1994:08:49:37 +0000`, in the combined log format.
    static func logText(_ seconds: Int) -> String { UTCTime.text(seconds, "%d/%b/%Y:%H:%M:%S +0000") }

    static var now: Int { time(nil) }
}
