// SPDX-License-Identifier: MIT

/// A position in the server's write-ahead log, of PostgreSQL's type `pg_lsn`.
public struct LogPosition: Sendable, Hashable, Comparable, LosslessStringConvertible {
    /// The offset from the log's beginning, in bytes.
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads PostgreSQL's form, two hexadecimal numbers: `0/16B3748`. Nil for anything else.
    public init?(_ text: String) {
        let halves = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard halves.count == 2, let high = Self.half(halves[0]), let low = Self.half(halves[1]) else {
            return nil
        }
        rawValue = UInt64(high) << 32 | UInt64(low)
    }

    private static func half(_ digits: Substring.UTF8View) -> UInt32? {
        // `UInt64.init` would also accept a sign.
        guard (1...8).contains(digits.count),
            digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") })
        else { return nil }
        return UInt32(Substring(digits), radix: 16)
    }

    public static func < (first: LogPosition, second: LogPosition) -> Bool {
        first.rawValue < second.rawValue
    }

    /// How many bytes of the log are between this position and a later one; 0 if it is not later.
    func distance(to end: LogPosition) -> Int64 {
        Int64(clamping: end.rawValue - min(end, self).rawValue)
    }

    public var description: String {
        let high = String(rawValue >> 32, radix: 16, uppercase: true)
        return high + "/" + String(rawValue & 0xffff_ffff, radix: 16, uppercase: true)
    }
}
