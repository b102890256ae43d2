// SPDX-License-Identifier: MIT

/// A position in the write-ahead log of a database: a byte offset.
///
/// Its text is that of PostgreSQL's type `pg_lsn`: two hexadecimal numbers of 32 bits each, such as `16/B374D848`.
public struct LogPosition: Sendable, Hashable, Comparable, LosslessStringConvertible {
    /// The offset from the log's beginning, in bytes.
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads `pg_lsn`'s text: one to eight hexadecimal digits on each side of the slash. Nil for anything else.
    public init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let high = Self.half(halves[0]), let low = Self.half(halves[1]) else {
            return nil
        }
        rawValue = high << 32 | low
    }

    private static func half(_ digits: Substring) -> UInt64? {
        guard (1...8).contains(digits.utf8.count), digits.first?.isHexDigit == true else { return nil }
        return UInt64(digits, radix: 16)
    }

    /// How many bytes of the log are between this position and a later one; 0 if it is not later.
    public func distance(to end: LogPosition) -> Int64 {
        Int64(clamping: end.rawValue - min(end, self).rawValue)
    }

    public var description: String {
        let (high, low) = (rawValue >> 32, rawValue & 0xffff_ffff)
        return "\(String(high, radix: 16, uppercase: true))/\(String(low, radix: 16, uppercase: true))"
    }

    public static func < (left: LogPosition, right: LogPosition) -> Bool { left.rawValue < right.rawValue }
}
