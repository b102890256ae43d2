// SPDX-License-Identifier: MIT

/// Follows answers by their heads. A head is parsed in place, and copied only if it is cut; the rest is
/// counted.
struct LoadAnswers {
    private var cut: [UInt8] = []
    private var left = 0
    private var answer = LoadAnswer(slot: 0, bytes: 0, isError: false)

    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ head: inout some LoadHead, into answers: inout [LoadAnswer]
    ) {
        var offset = 0
        while offset < bytes.count {
            if left == 0 {
                guard let length = begin(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &head) else {
                    return
                }
                offset += length
            }
            let passed = min(left, bytes.count - offset)
            left -= passed
            offset += passed
            if left == 0 { answers.append(answer) }
        }
    }

    /// Reads a head that may have begun earlier. Returns how much of `bytes` belongs to it; nil if it
    /// continues after them.
    private mutating func begin(_ bytes: UnsafeRawBufferPointer, _ head: inout some LoadHead) -> Int? {
        let before = cut.count
        var found: (answer: LoadAnswer, length: Int)?
        if before == 0 {
            found = head.read(bytes)
        } else {
            // A few more bytes are usually enough.
            for part in [bytes.prefix(Self.mostHeads), bytes.dropFirst(Self.mostHeads)] where found == nil {
                cut.append(contentsOf: part)
                found = cut.withUnsafeBytes { head.read($0) }
            }
        }
        guard let found else {
            if before == 0 { cut.append(contentsOf: bytes) }
            return nil
        }
        cut.removeAll(keepingCapacity: true)
        answer = found.answer
        left = answer.bytes - found.length
        return found.length - before
    }

    /// Most heads are shorter.
    private static let mostHeads = 64
}

/// Counts durations in buckets whose width is a sixty-fourth of their value, so that quantiles are accurate
/// to 1.6 %.
public struct LatencyHistogram {
    private static let subBuckets = 64
    private static let subBits = 6

    private var counts = [Int](repeating: 0, count: (64 - subBits + 1) * subBuckets)
    public private(set) var count = 0
    public private(set) var maximum: UInt64 = 0

    public init() {}

    public mutating func record(nanoseconds: UInt64) {
        counts[Self.bucket(nanoseconds)] += 1
        count += 1
        maximum = max(maximum, nanoseconds)
    }

    public mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        maximum = max(maximum, other.maximum)
    }

    /// The duration below which a share of all durations lies, in nanoseconds; 0 if there are none.
    public func quantile(_ share: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let rank = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (index, inBucket) in counts.enumerated() where inBucket > 0 {
            seen += inBucket
            if seen >= rank { return min(Self.upperEdge(index), maximum) }
        }
        return maximum
    }

    /// The number of durations in each power of two of nanoseconds, as pairs of its lower bound and the
    /// count, from the first to the last that is not empty.
    public var octaves: [(from: UInt64, count: Int)] {
        var sums: [(from: UInt64, count: Int)] = []
        for exponent in 0..<64 {
            let low = UInt64(1) << UInt64(exponent)
            let (from, to) = (Self.bucket(low), Self.bucket(low &- 1 &+ low))
            sums.append((low, counts[from...to].reduce(0, +)))
        }
        let filled = sums.indices.filter { sums[$0].count > 0 }
        guard let first = filled.first, let last = filled.last else { return [] }
        return Array(sums[first...last])
    }

    private static func bucket(_ value: UInt64) -> Int {
        guard value >= UInt64(subBuckets) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let shift = exponent - subBits
        return (shift + 1) * subBuckets + Int((value >> UInt64(shift)) & UInt64(subBuckets - 1))
    }

    private static func upperEdge(_ bucket: Int) -> UInt64 {
        guard bucket >= subBuckets else { return UInt64(bucket) }
        let shift = UInt64(bucket / subBuckets - 1)
        let base = UInt64(subBuckets + bucket % subBuckets)
        return ((base &+ 1) << shift) &- 1
    }
}
