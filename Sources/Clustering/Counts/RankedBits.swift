// SPDX-License-Identifier: MIT
import SystemSupport

/// Bits that say quickly how many of them before an offset are set.
///
/// They are kept in lines of 64 bytes, each of which a query reads at once: the number of ones before the line in
/// 32 bits, then 480 bits. So they take 1.07 bits each.
///
/// Invariant: `lines` has `wordCount(count)` words.
struct RankedBits: Sendable {
    /// The bits of a line.
    static let bitsOfLine = 480
    /// The words of a line. The upper half of the first has the line's first 32 bits.
    static let wordsOfLine = 8
    private static let bitsOfHead = 32

    let lines: Column<UInt64>
    let count: Int

    init(lines: Column<UInt64>, count: Int) { (self.lines, self.count) = (lines, count) }

    /// The words that `count` bits take. The last line ends after the last bit, so that each offset has a line.
    static func wordCount(_ count: Int) -> Int { (count / bitsOfLine + 1) * wordsOfLine }

    /// The number of ones before an offset.
    ///
    /// - Parameter offset: from 0 to `count`. Any other gives a number without meaning.
    @inline(__always) func ones(before offset: Int) -> Int { Self.ones(before: offset, in: lines, from: 0) }

    /// The same of bits that begin with a word of longer lines.
    @inline(__always) static func ones(before offset: Int, in lines: Column<UInt64>, from start: Int) -> Int {
        let line = UInt(bitPattern: offset) / UInt(bitsOfLine)
        let first = start &+ Int(bitPattern: line &* UInt(wordsOfLine))
        let head = lines[within: first]
        var rest = offset &- Int(bitPattern: line) &* bitsOfLine
        var ones = Int(truncatingIfNeeded: head & 0xffff_ffff)
        let early = head &>> 32
        guard rest > bitsOfHead else {
            return ones &+ (early & ((1 &<< UInt64(truncatingIfNeeded: rest)) &- 1)).nonzeroBitCount
        }
        ones &+= early.nonzeroBitCount
        rest &-= bitsOfHead
        var word = first &+ 1
        while rest >= 64 {
            ones &+= lines[within: word].nonzeroBitCount
            word &+= 1
            rest &-= 64
        }
        guard rest > 0 else { return ones }
        return ones &+ (lines[within: word] & ((1 &<< UInt64(truncatingIfNeeded: rest)) &- 1)).nonzeroBitCount
    }

    /// The bit at an offset below `count`.
    @inline(__always) subscript(offset: Int) -> Bool { Self.bit(offset, in: lines, from: 0) }

    @inline(__always) static func bit(_ offset: Int, in lines: Column<UInt64>, from start: Int) -> Bool {
        let line = UInt(bitPattern: offset) / UInt(bitsOfLine)
        let bit = offset &- Int(bitPattern: line) &* bitsOfLine &+ bitsOfHead
        let word = lines[within: start &+ Int(bitPattern: line) &* wordsOfLine &+ bit &>> 6]
        return word &>> UInt64(truncatingIfNeeded: bit & 63) & 1 == 1
    }

    /// The offset of the one (or the zero) that has so many others of its kind before it.
    ///
    /// - Parameter rank: below the number of such bits. Any other gives an offset without meaning.
    /// - Complexity: O(log(count)).
    func offset(of rank: Int, isOne: Bool) -> Int {
        func before(_ line: Int) -> Int {
            let ones = Int(truncatingIfNeeded: lines[within: line * Self.wordsOfLine] & 0xffff_ffff)
            return isOne ? ones : line * Self.bitsOfLine - ones
        }
        let line = max(0, (0..<count / Self.bitsOfLine + 1).partitionIndex { before($0) <= rank } - 1)
        var rest = rank - before(line)
        var offset = line * Self.bitsOfLine
        for index in 0..<Self.wordsOfLine {
            let isHead = index == 0
            var word = lines[within: line * Self.wordsOfLine + index] >> (isHead ? 32 : 0)
            let width = isHead ? Self.bitsOfHead : 64
            if !isOne { word = ~word & (isHead ? 0xffff_ffff : .max) }
            let found = word.nonzeroBitCount
            if rest < found {
                for _ in 0..<max(0, rest) { word &= word &- 1 }
                return offset + word.trailingZeroBitCount
            }
            rest -= found
            offset += width
        }
        return min(offset, max(0, count - 1))
    }
}

/// Writes the lines of `RankedBits`, several threads at a time.
struct RankedBitsWriter {
    let words: UnsafeMutablePointer<UInt64>
    let count: Int

    /// The number of lines.
    var lineCount: Int { count / RankedBits.bitsOfLine + 1 }

    /// Writes the bits of a range of lines, without their counts.
    ///
    /// - Returns: the number of ones.
    @inline(__always) func write(_ range: Range<Int>, _ isOne: (Int) -> Bool) -> Int {
        var total = 0
        for line in range {
            let target = words + line * RankedBits.wordsOfLine
            var offset = line * RankedBits.bitsOfLine
            let end = min(count, offset + RankedBits.bitsOfLine)
            for index in 0..<RankedBits.wordsOfLine {
                var (word, bit): (UInt64, UInt64) = (0, index == 0 ? 32 : 0)
                while bit < 64, offset < end {
                    if isOne(offset) { word |= 1 &<< bit }
                    offset &+= 1
                    bit &+= 1
                }
                target[index] = word
                total &+= word.nonzeroBitCount
            }
        }
        return total
    }

    /// Writes the counts of a range of lines whose bits have been written.
    ///
    /// - Parameter ones: the number of ones before the range.
    func writeCounts(_ range: Range<Int>, from ones: Int) {
        var ones = ones
        for line in range {
            let target = words + line * RankedBits.wordsOfLine
            var sum = 0
            for index in 0..<RankedBits.wordsOfLine { sum &+= target[index].nonzeroBitCount }
            target[0] |= UInt64(truncatingIfNeeded: ones)
            ones &+= sum
        }
    }
}
