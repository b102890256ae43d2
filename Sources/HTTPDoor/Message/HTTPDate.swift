// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Dates as HTTP and access logs write them.
enum HTTPDate {
    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    static func text(_ seconds: Int) -> [UInt8] {
        Array(UTCTime.text(seconds, "%a, %d %b %Y %H:%M:%S GMT").utf8)
    }

    /// Such as `06/Nov/1994:08:49:37 +0000`, as the combined log format has it.
    static func logText(_ seconds: Int) -> [UInt8] {
        Array(UTCTime.text(seconds, "%d/%b/%Y:%H:%M:%S +0000").utf8)
    }

    static var now: Int { time(nil) }
}
