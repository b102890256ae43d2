// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Writes dates in the formats of HTTP and of access logs.
enum HTTPDate {
    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    static func text(_ seconds: Int) -> [UInt8] {
        Array(UTCTime.text(seconds, "%a, %d %b %Y %H:%M:%S GMT").utf8)
    }

    /// Such as `06/Nov/1994:08:49:37 +0000`, in the combined log format.
    static func logText(_ seconds: Int) -> [UInt8] {
        Array(UTCTime.text(seconds, "%d/%b/%Y:%H:%M:%S +0000").utf8)
    }

    static var now: Int { time(nil) }
}
