// SPDX-License-Identifier: MIT
import SystemSupport

/// Numbers in strictly ascending order, compressed (Elias-Fano): 0.4 bytes each if every second number below a limit is
/// among them, 1.1 bytes if every hundredth is.
///
/// The low bits of each number are stored as they are; the high bits in unary, as the distance to those of the number
/// before.
///
/// Invariant: `highs` has a one for each number, and before it as many zeros as its high bits say. Of a damaged image
/// both may have any bits.
struct AscendingNumbers: Sendable {
    let count: Int
    /// Above all numbers.
    private let limit: Int
    private let lowWidth: Int
    private let highs: RankedBits
    /// The limit, then the low bits of all numbers.
    private let lows: Column<UInt64>

    private static func lowWidth(_ count: Int, below limit: Int) -> Int {
        count > 0 && limit > count ? Int.bitWidth - 1 - (limit / count).leadingZeroBitCount : 0
    }

    private static func highCount(_ count: Int, below limit: Int) -> Int {
        count + limit >> lowWidth(count, below: limit) + 1
    }

    private static func lowWords(_ count: Int, width: Int) -> Int { (count * width + 63) / 64 + 2 }

    /// - Parameter numbers: strictly ascending.
    init(_ numbers: [UInt32]) {
        count = numbers.count
        limit = numbers.last.map { Int($0) + 1 } ?? 0
        lowWidth = Self.lowWidth(count, below: limit)
        let length = Self.highCount(count, below: limit)
        var bits = [UInt64](repeating: 0, count: length / 64 + 1)
        let words = Self.lowWords(count, width: lowWidth)
        let lows = Scratch<UInt64>(repeating: 0, count: words)
        lows.base[0] = UInt64(limit)
        for (index, number) in numbers.enumerated() {
            let high = index + Int(number) >> lowWidth
            bits[high >> 6] |= 1 << UInt64(high & 63)
            guard lowWidth > 0 else { continue }
            let offset = 64 + index * lowWidth
            let low = UInt64(number) & (1 << UInt64(lowWidth) - 1)
            lows.base[offset >> 6] |= low << UInt64(offset & 63)
            if offset & 63 + lowWidth > 64 { lows.base[offset >> 6 + 1] |= low >> UInt64(64 - offset & 63) }
        }
        self.lows = lows.finish(count: words)
        let lines = Scratch<UInt64>(capacity: RankedBits.wordCount(length))
        let writer = RankedBitsWriter(words: lines.base, count: length)
        _ = writer.write(0..<writer.lineCount) { bits[$0 >> 6] >> UInt64($0 & 63) & 1 == 1 }
        writer.writeCounts(0..<writer.lineCount, from: 0)
        highs = RankedBits(lines: lines.finish(count: RankedBits.wordCount(length)), count: length)
    }

    /// Numbers on arrays that `highBytes` and `lowBytes` lent; nil if these are not of so many numbers.
    ///
    /// - Parameter owner: keeps them valid and unchanged.
    init?(count: Int, highs: UnsafeBufferPointer<UInt64>, lows: UnsafeBufferPointer<UInt64>, owner: AnyObject) {
        guard count >= 0, let first = lows.first, let limit = Int(exactly: first), limit <= Int(UInt32.max) + 1
        else { return nil }
        self.count = count
        self.limit = limit
        lowWidth = Self.lowWidth(count, below: limit)
        let length = Self.highCount(count, below: limit)
        guard highs.count == RankedBits.wordCount(length), lows.count == Self.lowWords(count, width: lowWidth)
        else { return nil }
        self.highs = RankedBits(lines: Column(highs, owner: owner), count: length)
        self.lows = Column(lows, owner: owner)
    }

    var highBytes: UnsafeRawBufferPointer { highs.lines.bytes }
    var lowBytes: UnsafeRawBufferPointer { lows.bytes }
    var memoryBytes: Int { highs.lines.memoryBytes + lows.memoryBytes }

    /// The number at an index below `count`.
    ///
    /// - Complexity: O(log(count)): about ten steps for a million.
    subscript(index: Int) -> Int {
        let high = max(0, highs.offset(of: index, isOne: true) - index)
        return high << lowWidth | low(index)
    }

    private func low(_ index: Int) -> Int {
        guard lowWidth > 0 else { return 0 }
        let offset = 64 + index * lowWidth
        var low = lows[within: offset >> 6] >> UInt64(offset & 63)
        if offset & 63 + lowWidth > 64 { low |= lows[within: offset >> 6 + 1] << UInt64(64 - offset & 63) }
        return Int(truncatingIfNeeded: low & (1 << UInt64(lowWidth) - 1))
    }

    /// How many of the numbers are below another.
    ///
    /// - Complexity: O(log(count)).
    func count(below number: Int) -> Int {
        guard number > 0 else { return 0 }
        guard number < limit else { return count }
        let high = number >> lowWidth
        let first = high == 0 ? 0 : clamped(highs.offset(of: high - 1, isOne: false) - (high - 1))
        let end = max(first, clamped(highs.offset(of: high, isOne: false) - high))
        let rest = number & (1 << lowWidth - 1)
        return (first..<end).partitionIndex { low($0) < rest }
    }

    private func clamped(_ index: Int) -> Int { max(0, min(count, index)) }
}
