// SPDX-License-Identifier: MIT

/// Counts durations in buckets whose width grows with the duration: eight buckets per doubling, so a quantile is
/// accurate to about 12 %.
public struct LatencyHistogram: Sendable {
    private static let subBuckets = 8
    private var counts = [UInt64](repeating: 0, count: 64 * subBuckets)
    public private(set) var count: UInt64 = 0
    /// The sum of all durations, in nanoseconds.
    public private(set) var sum: UInt64 = 0
    public private(set) var maximum: UInt64 = 0

    public init() {}

    /// Counts a duration in nanoseconds.
    public mutating func record(_ nanoseconds: UInt64) {
        counts[Self.bucket(nanoseconds)] &+= 1
        count &+= 1
        sum &+= nanoseconds
        maximum = max(maximum, nanoseconds)
    }

    public mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        count &+= other.count
        sum &+= other.sum
        maximum = max(maximum, other.maximum)
    }

    /// The duration below which a share of all durations lies, in nanoseconds; 0 if none was counted.
    public func quantile(_ share: Double) -> UInt64 {
        let rank = UInt64(max(1, (Double(count) * share).rounded(.up)))
        var seen: UInt64 = 0
        for index in counts.indices {
            seen &+= counts[index]
            if count > 0, seen >= rank { return min(maximum, Self.upperBound(index)) }
        }
        return 0
    }

    /// The number of durations up to each bound. Each bound is four times the previous one, from about a
    /// microsecond to about 69 seconds, in nanoseconds.
    public var cumulative: [(bound: UInt64, count: UInt64)] {
        var (seen, position) = (UInt64(0), 0)
        return stride(from: 10, through: 36, by: 2).map { exponent in
            let bound = (UInt64(1) << UInt64(exponent)) - 1
            while position < counts.count, Self.upperBound(position) <= bound {
                seen &+= counts[position]
                position += 1
            }
            return (bound, seen)
        }
    }

    private static func bucket(_ value: UInt64) -> Int {
        guard value >= UInt64(subBuckets) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let mantissa = Int(truncatingIfNeeded: value >> UInt64(exponent - 3)) & (subBuckets - 1)
        return (exponent - 2) * subBuckets + mantissa
    }

    private static func upperBound(_ bucket: Int) -> UInt64 {
        guard bucket >= subBuckets else { return UInt64(bucket) }
        let exponent = bucket / subBuckets + 2
        let mantissa = UInt64(bucket % subBuckets)
        let width = UInt64(1) << UInt64(exponent - 3)
        return (UInt64(subBuckets) + mantissa) * width + (width - 1)
    }
}
