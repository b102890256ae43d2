// SPDX-License-Identifier: MIT

/// Counts durations in buckets whose width grows with the duration, so that quantiles are accurate to a fraction.
public struct LatencyHistogram: Sendable {
    /// The buckets of each doubling, as a power of two.
    private let subBits: Int
    private var counts: [Int]
    public private(set) var count = 0
    /// The sum of all durations, in nanoseconds.
    public private(set) var sum: UInt64 = 0
    public private(set) var maximum: UInt64 = 0

    /// - Parameter subBits: 3 for an accuracy of an eighth in 4 KiB, 6 for a sixty-fourth in 30 KiB.
    public init(subBits: Int = 3) {
        self.subBits = subBits
        counts = Array(repeating: 0, count: (64 - subBits + 1) << subBits)
    }

    /// Counts a duration in nanoseconds.
    public mutating func record(_ nanoseconds: UInt64) {
        counts[bucket(nanoseconds)] += 1
        count += 1
        sum &+= nanoseconds
        maximum = max(maximum, nanoseconds)
    }

    /// - Parameter other: of the same accuracy.
    public mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        sum &+= other.sum
        maximum = max(maximum, other.maximum)
    }

    /// The duration below which a share of all durations lies, in nanoseconds; 0 if none was counted.
    public func quantile(_ share: Double) -> UInt64 {
        let rank = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (index, inBucket) in counts.enumerated() where inBucket > 0 {
            seen += inBucket
            if seen >= rank { return min(upperEdge(index), maximum) }
        }
        return maximum
    }

    /// The number of durations up to each bound. Each bound is four times the previous one, from about a
    /// microsecond to about 69 seconds, in nanoseconds.
    public var cumulative: [(bound: UInt64, count: Int)] {
        stride(from: 10, through: 36, by: 2).map { exponent in
            let bound = (UInt64(1) << UInt64(exponent)) - 1
            return (bound, counts[...bucket(bound)].reduce(0, +))
        }
    }

    /// The number of durations in each power of two of nanoseconds, as pairs of its lower bound and the
    /// count, from the first to the last that is not empty.
    public var octaves: [(from: UInt64, count: Int)] {
        let sums = (UInt64(0)..<64).map { exponent in
            let low = UInt64(1) << exponent
            return (from: low, count: counts[bucket(low)...bucket(low &- 1 &+ low)].reduce(0, +))
        }
        let filled = sums.indices.filter { sums[$0].count > 0 }
        guard let first = filled.first, let last = filled.last else { return [] }
        return Array(sums[first...last])
    }

    private func bucket(_ value: UInt64) -> Int {
        guard value >> UInt64(subBits) > 0 else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - subBits
        return (shift + 1) << subBits + Int(truncatingIfNeeded: value >> UInt64(shift)) & (1 << subBits - 1)
    }

    private func upperEdge(_ bucket: Int) -> UInt64 {
        guard bucket >> subBits > 0 else { return UInt64(bucket) }
        let shift = UInt64(bucket >> subBits - 1)
        let base = UInt64(1 << subBits + bucket & (1 << subBits - 1))
        return ((base &+ 1) << shift) &- 1
    }
}
