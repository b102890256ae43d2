// SPDX-License-Identifier: MIT
import SystemSupport

/// A permutation of 0 to `count - 1`, which answers in O(log(count)) how many of its values in a range of offsets lie in
/// a range of values, and which is the greatest of them.
///
/// The levels have the values' bits from the highest. Within a level the values are sorted by their higher bits, so
/// the values of a range of offsets that share these bits are a range there as well: see "The wavelet matrix"
/// (Claude, Navarro and Ordóñez, 2015). Takes 1.07 × log2(count) bits a value.
///
/// A class, so that a query retains one object instead of its parts.
final class WaveletMatrix: Sendable {
    let count: Int
    /// The number of bits of a value.
    let levelCount: Int
    /// By level: the number of zeros, which come before the ones in the next level.
    private let zeros: [Int]
    /// All levels, one after another.
    let words: Column<UInt64>
    /// The words of a level.
    private let wordsOfLevel: Int

    /// The number of bits of a value.
    static func levelCount(_ count: Int) -> Int { count < 2 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount }

    /// The words of all levels.
    static func wordCount(_ count: Int) -> Int { levelCount(count) * RankedBits.wordCount(count) }

    /// A matrix on words that another one had; nil if their number is wrong.
    init?(_ words: Column<UInt64>, count: Int) {
        guard count >= 0, words.count == Self.wordCount(count) else { return nil }
        self.count = count
        self.words = words
        levelCount = Self.levelCount(count)
        wordsOfLevel = RankedBits.wordCount(count)
        // A permutation's bits are those of 0 to count - 1.
        zeros = (0..<Self.levelCount(count)).map { Self.zeros(level: $0, count: count) }
    }

    /// How many of 0 to `count - 1` have a zero at a level.
    private static func zeros(level: Int, count: Int) -> Int {
        let half = 1 << (levelCount(count) - 1 - level)
        let (whole, rest) = count.quotientAndRemainder(dividingBy: 2 * half)
        return whole * half + min(rest, half)
    }

    /// Builds a matrix of values, which are overwritten.
    ///
    /// - Parameter spare: as much memory, also overwritten.
    /// - Complexity: O(count × log(count)).
    static func build(
        _ values: Scratch<UInt32>, spare: Scratch<UInt32>, count: Int, parallel: Parallel
    ) throws(ClusteringError) -> WaveletMatrix? {
        let words = Scratch<UInt64>(capacity: wordCount(count))
        let size = RankedBits.wordCount(count)
        var (from, to) = (values.base, spare.base)
        for level in 0..<levelCount(count) {
            try parallel.stopIfCancelled()
            let writer = RankedBitsWriter(words: words.base + level * size, count: count)
            let bit = UInt32(truncatingIfNeeded: levelCount(count) - 1 - level)
            let shares = min(parallel.shares(of: count, perThread: 1), writer.lineCount)
            let (source, target) = (from, to)
            func lines(_ share: Int) -> Range<Int> {
                let (start, end) = Parallel.bounds(share, of: shares, count: writer.lineCount)
                return start..<end
            }
            var ones = parallel.map(shares) { share, _ in
                writer.write(lines(share)) { source[$0] &>> bit & 1 == 1 }
            }
            _ = Parallel.accumulate(&ones)
            let (before, zeros) = (ones, zeros(level: level, count: count))
            parallel.run(shares) { share in
                let range = lines(share)
                writer.writeCounts(range, from: before[share])
                let start = range.lowerBound * RankedBits.bitsOfLine
                var (zero, one) = (start - before[share], zeros + before[share])
                for offset in start..<min(count, range.upperBound * RankedBits.bitsOfLine) {
                    let value = source[offset]
                    if value &>> bit & 1 == 1 {
                        target[one] = value
                        one &+= 1
                    } else {
                        target[zero] = value
                        zero &+= 1
                    }
                }
            }
            swap(&from, &to)
        }
        return WaveletMatrix(words.finish(count: wordCount(count)), count: count)
    }

    /// The number of ones before an offset of a level.
    @inline(__always) private func ones(before offset: Int, at level: Int) -> Int {
        RankedBits.ones(before: offset, in: words, from: level &* wordsOfLevel)
    }

    /// The bit at an offset of a level.
    @inline(__always) func bit(_ offset: Int, at level: Int) -> Bool {
        RankedBits.bit(offset, in: words, from: level &* wordsOfLevel)
    }

    /// A range of a level's values.
    struct Span: BitwiseCopyable {
        var start: Int
        var end: Int

        @inline(__always) var count: Int { end &- start }
    }

    /// The values of a span whose next bit is zero, and those whose next bit is one, in the next level.
    @inline(__always) func split(_ span: Span, at level: Int) -> (zeros: Span, ones: Span) {
        let (first, last) = (ones(before: span.start, at: level), ones(before: span.end, at: level))
        let zeros = zeros[level]
        return (
            Span(start: span.start &- first, end: span.end &- last),
            Span(start: zeros &+ first, end: zeros &+ last)
        )
    }

    /// The value at an offset.
    ///
    /// - Parameters:
    ///   - offset: the offset at a level.
    ///   - value: the bits of the levels before it.
    func value(at offset: Int, level: Int = 0, value: Int = 0) -> Int {
        var (value, offset) = (value, offset)
        for level in level..<levelCount {
            let (next, isOne) = next(offset, at: level)
            offset = Int(next)
            value = value &<< 1 | (isOne ? 1 : 0)
        }
        return value
    }

    /// Where the next level has the value at an offset of a level, and its bit.
    @inline(__always) func next(_ offset: Int, at level: Int) -> (offset: UInt32, isOne: Bool) {
        let ones = ones(before: offset, at: level)
        let isOne = bit(offset, at: level)
        return (UInt32(truncatingIfNeeded: isOne ? zeros[level] &+ ones : offset &- ones), isOne)
    }

    /// The offset of a value.
    func offset(of value: Int) -> Int {
        var offset = endOffset(of: value)
        for level in (0..<levelCount).reversed() {
            let isOne = value &>> (levelCount &- 1 &- level) & 1 == 1
            let bits = RankedBits(
                lines: words.part(level * wordsOfLevel..<(level + 1) * wordsOfLevel), count: count)
            offset = bits.offset(of: isOne ? offset &- zeros[level] : offset, isOne: isOne)
        }
        return offset
    }

    /// Where the last level's order, which nothing stores, has a value.
    private func endOffset(of value: Int) -> Int {
        var span = Span(start: 0, end: count)
        for level in 0..<levelCount {
            let (zeros, ones) = split(span, at: level)
            span = value &>> (levelCount &- 1 &- level) & 1 == 1 ? ones : zeros
        }
        return span.start
    }

    /// How many values of a span of offsets are below a limit.
    func count(_ span: Span, below limit: Int) -> Int {
        guard limit < count else { return max(0, span.count) }
        guard limit > 0 else { return 0 }
        var (span, found) = (span, 0)
        for level in 0..<levelCount {
            guard span.start < span.end else { break }
            let (zeros, ones) = split(span, at: level)
            if limit &>> (levelCount &- 1 &- level) & 1 == 1 {
                found &+= zeros.count
                span = ones
            } else {
                span = zeros
            }
        }
        return found
    }

    /// How many values of a span of offsets lie in a range.
    func count(_ span: Span, in range: Range<Int>) -> Int {
        range.isEmpty || span.count <= 0
            ? 0 : count(span, below: range.upperBound) &- count(span, below: range.lowerBound)
    }

    /// The greatest value of a span of offsets within a range of values; nil if there is none.
    func greatest(_ span: Span, in range: Range<Int>) -> Int? {
        guard !range.isEmpty, span.count > 0 else { return nil }
        let below = count(span, below: range.upperBound)
        guard below > 0 else { return nil }
        // The value that has below - 1 smaller ones in the span.
        var (span, rank, value) = (span, below &- 1, 0)
        for level in 0..<levelCount {
            let (zeros, ones) = split(span, at: level)
            if rank < zeros.count {
                (span, value) = (zeros, value &<< 1)
            } else {
                (span, rank, value) = (ones, rank &- zeros.count, value &<< 1 | 1)
            }
        }
        return range.contains(value) ? value : nil
    }
}
