// SPDX-License-Identifier: MIT
import Glibc

/// Dates as HTTP and access logs write them.
enum HTTPDate {
    /// Such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
    static func text(_ seconds: Int) -> [UInt8] { format(seconds, "%a, %d %b %Y %H:%M:%S GMT") }

    /// Such as `06/Nov/1994:08:49:37 +0000`, as the combined log format has it.
    static func logText(_ seconds: Int) -> [UInt8] { format(seconds, "%d/%b/%Y:%H:%M:%S +0000") }

    static var now: Int { time(nil) }

    /// The process never sets a locale, so that names are English.
    private static func format(_ seconds: Int, _ pattern: String) -> [UInt8] {
        var moment = seconds
        var parts = tm()
        guard gmtime_r(&moment, &parts) != nil else { return [] }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, pattern, &parts)
        return text[..<count].map { UInt8(bitPattern: $0) }
    }
}
