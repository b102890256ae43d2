// SPDX-License-Identifier: MIT
import Glibc

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
