// SPDX-License-Identifier: MIT
import SystemSupport

/// A stable most-significant-digit radix sort of trivial elements.
///
/// All threads distribute the elements by the highest digit. Each part is then sorted by one thread, in its processor's
/// cache: sorting by the lowest digit first would move all elements through the memory that the processors share, once
/// for each digit.
enum RadixSort {
    /// The numbers of bits of a digit by which all threads distribute. A thread writes to as many positions at once as
    /// there are digits.
    private static let digitBits = 8...11
    /// About the binary logarithm of the number of elements in a part.
    private static let partBits = 11
    /// The number of portions into which the parts are divided for each thread: several, so that no thread waits long
    /// for the slowest.
    private static let portionsOfThread = 8

    /// Sorts `count` elements by their keys, which have at most `bits` bits, with `other` as working memory.
    ///
    /// If cancelled, the elements are in any order.
    ///
    /// - Parameter isWantedInOther: whether the sorted elements are to be in `other` instead of `elements`.
    /// - Complexity: O(count × bits / 11) at most; a digit that all elements share costs only the counting.
    static func sort<Key: RadixKey>(
        _ elements: UnsafeMutablePointer<Key.Element>, spare other: UnsafeMutablePointer<Key.Element>,
        count: Int, bits: Int, isWantedInOther: Bool = false, by key: Key, parallel: Parallel
    ) {
        let isCancelled = parallel.isCancelled()
        guard count > 2 << partBits || parallel.shares(of: count) > 1, bits > 0, !isCancelled else {
            return RadixPart(key: key).sort(
                elements, other, count, bits: isCancelled ? 0 : bits, isWantedInOther: isWantedInOther)
        }
        let size = Int.bitWidth - 1 - count.leadingZeroBitCount
        let width = min(bits, max(digitBits.lowerBound, min(digitBits.upperBound, size - partBits)))
        let shift = UInt64(bits - width)
        let starts = Scratch<UInt32>(capacity: (1 << width) + 1)
        guard
            distribute(
                elements, other, count, width: width, shift: shift, by: key, parallel, starts: starts.base)
        else {
            return sort(
                elements, spare: other, count: count, bits: bits - width, isWantedInOther: isWantedInOther,
                by: key, parallel: parallel)
        }
        let most = max(count / (portionsOfThread * parallel.threads), min(1 << partBits, parallel.smallestShare))
        var portions: [Range<Int>] = []
        var first = 0
        for digit in 0..<1 << width {
            let end = Int(starts.base[digit + 1])
            let isLarge = end - Int(starts.base[digit]) > 2 * most && parallel.threads > 1
            if isLarge {
                if digit > first { portions.append(first..<digit) }
                let start = Int(starts.base[digit])
                sort(
                    other + start, spare: elements + start, count: end - start, bits: bits - width,
                    isWantedInOther: !isWantedInOther, by: key, parallel: parallel)
                first = digit + 1
            } else if end - Int(starts.base[first]) >= most {
                portions.append(first..<digit + 1)
                first = digit + 1
            }
        }
        portions.append(first..<1 << width)
        let part = RadixPart(key: key)
        parallel.run(portions.count) { portion in
            let isCancelled = parallel.isCancelled()
            for digit in portions[portion] {
                let (start, end) = (Int(starts.base[digit]), Int(starts.base[digit + 1]))
                part.sort(
                    other + start, elements + start, end - start, bits: isCancelled ? 0 : bits - width,
                    isWantedInOther: !isWantedInOther)
            }
        }
    }

    /// Distributes elements by one digit of their keys.
    ///
    /// - Parameter starts: receives the start of each digit's part, and the count after the last.
    /// - Returns: false if all elements have the same digit, or the work was cancelled; the elements are then still in
    ///   `source`.
    private static func distribute<Key: RadixKey>(
        _ source: UnsafeMutablePointer<Key.Element>, _ target: UnsafeMutablePointer<Key.Element>,
        _ count: Int, width: Int, shift: UInt64, by key: Key, _ parallel: Parallel,
        starts: UnsafeMutablePointer<UInt32>
    ) -> Bool {
        // Each share has a table of digits.
        let shares = parallel.shares(of: count, perThread: 2)
        let digits = 1 << width
        let offsets = Scratch<UInt32>(capacity: shares * digits)
        let part = RadixPart(key: key)
        // Counts of a cancelled pass are too small.
        parallel.run(shares) { share in
            let counts = offsets.base + share * digits
            counts.update(repeating: 0, count: digits)
            parallel.forEachPart(of: share, of: shares, count: count) {
                part.count(source + $0.lowerBound, $0.count, digits: digits, shift: shift, into: counts)
            }
        }
        if parallel.isCancelled() { return false }
        var offset: UInt32 = 0
        for digit in 0..<digits {
            starts[digit] = offset
            for share in 0..<shares {
                let here = offsets.base[share * digits + digit]
                offsets.base[share * digits + digit] = offset
                offset &+= here
            }
            if Int(offset &- starts[digit]) == count { return false }
        }
        starts[digits] = offset
        parallel.run(shares) { share in
            parallel.forEachPart(of: share, of: shares, count: count) {
                part.scatter(
                    source + $0.lowerBound, $0.count, digits: digits, shift: shift, to: target,
                    at: offsets.base + share * digits)
            }
        }
        return !parallel.isCancelled()
    }
}

/// The key by which elements are sorted. It is a type instead of a closure so that it is inlined into the sort.
protocol RadixKey {
    associatedtype Element: BitwiseCopyable
    func key(_ element: Element) -> UInt64
}

/// A number by its upper half.
struct UpperHalf: RadixKey {
    @inline(__always) func key(_ element: UInt64) -> UInt64 { element &>> 32 }
}

/// Sorts many numbers on several threads.
public enum NumberSort {
    /// Returns the numbers of all arrays, sorted by their upper 32 bits. The sort is stable.
    ///
    /// - Complexity: O(numbers); uses 8 bytes per number besides the result.
    public static func byUpperHalf(_ parts: [[UInt64]], threads: Int) -> [UInt64] {
        sorted(parts.reduce(0) { $0 + $1.count }, bits: 32, by: UpperHalf(), threads: threads) { numbers in
            for number in parts.joined() { numbers.append(number) }
        }
    }

    private struct Whole: RadixKey {
        @inline(__always) func key(_ element: UInt64) -> UInt64 { element }
    }

    /// Sorts numbers on the calling thread.
    ///
    /// - Complexity: O(numbers); uses 8 bytes per number meanwhile.
    public static func sort(_ numbers: inout [UInt64]) {
        let spare = Scratch<UInt64>(capacity: numbers.count)
        numbers.withUnsafeMutableBufferPointer { numbers in
            guard let base = numbers.baseAddress else { return }
            RadixSort.sort(
                base, spare: spare.base, count: numbers.count, bits: 64, by: Whole(),
                parallel: Parallel(.awake, threads: 1))
        }
        withExtendedLifetime(spare) {}
    }

    private struct Ranked: BitwiseCopyable {
        var key: UInt64
        var index: UInt32
    }

    private struct WholeKey: RadixKey {
        func key(_ element: Ranked) -> UInt64 { element.key }
    }

    /// Returns the indexes of the numbers in ascending order. The sort is stable.
    ///
    /// - Complexity: O(numbers); uses 32 bytes per number besides the result.
    public static func ranks(of keys: [UInt64], threads: Int) -> [UInt32] {
        sorted(keys.count, bits: 64, by: WholeKey(), threads: threads) { ranked in
            for (index, key) in keys.enumerated() {
                ranked.append(Ranked(key: key, index: UInt32(truncatingIfNeeded: index)))
            }
        }.map(\.index)
    }

    private static func sorted<Key: RadixKey>(
        _ count: Int, bits: Int, by key: Key, threads: Int, _ fill: (inout [Key.Element]) -> Void
    ) -> [Key.Element] {
        var elements: [Key.Element] = []
        elements.reserveCapacity(count)
        fill(&elements)
        let spare = Scratch<Key.Element>(capacity: count)
        elements.withUnsafeMutableBufferPointer { elements in
            guard let elements = elements.baseAddress else { return }
            RadixSort.sort(
                elements, spare: spare.base, count: count, bits: bits, by: key,
                parallel: Parallel(.awake, threads: threads))
        }
        return withExtendedLifetime(spare) { elements }
    }
}

/// The sort of a few elements by one thread.
struct RadixPart<Key: RadixKey> {
    typealias Elements = UnsafeMutablePointer<Key.Element>

    let key: Key

    /// Fewer elements than this are inserted one by one.
    private static var few: Int { 24 }
    private static var mostDigitBits: Int { 11 }

    /// Sorts elements by the lowest `bits` bits of their keys; all higher bits must be equal.
    ///
    /// - Parameters:
    ///   - other: working memory for as many elements.
    ///   - isWantedInOther: whether the sorted elements are to be there.
    func sort(_ elements: Elements, _ other: Elements, _ count: Int, bits: Int, isWantedInOther: Bool) {
        var bits = bits
        while count > Self.few, bits > 0 {
            // About as many digits as elements.
            let width = min(bits, Self.mostDigitBits, Int.bitWidth - 1 - count.leadingZeroBitCount)
            bits -= width
            let isDone = withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 1 << width) { ends in
                guard let ends = ends.baseAddress,
                    distribute(elements, other, count, width: width, shift: UInt64(bits), ends)
                else { return false }
                // Elements of several digits that have few each are inserted together: those of different digits are in
                // order already.
                var (start, first) = (0, 0)
                for digit in 0..<1 << width {
                    let end = Int(ends[digit])
                    if end - start > Self.few {
                        finish(other + first, elements + first, start - first, bits, isWantedInOther)
                        sort(
                            other + start, elements + start, end - start, bits: bits, isWantedInOther: !isWantedInOther)
                        first = end
                    }
                    start = end
                }
                finish(other + first, elements + first, count - first, bits, isWantedInOther)
                return true
            }
            if isDone { return }
        }
        finish(elements, other, count, bits, !isWantedInOther)
    }

    /// Inserts elements that are sorted but for the lowest bits one by one.
    ///
    /// - Parameter isWantedHere: whether they are to stay in `elements`.
    @inline(__always) private func finish(
        _ elements: Elements, _ other: Elements, _ count: Int, _ bits: Int, _ isWantedHere: Bool
    ) {
        if !isWantedHere { other.update(from: elements, count: count) }
        if bits > 0 { insert(isWantedHere ? elements : other, count) }
    }

    /// Distributes elements by one digit; returns false, and moves nothing, if all have the same.
    ///
    /// - Parameter ends: receives the end of each digit's part.
    @inline(__always) private func distribute(
        _ elements: Elements, _ other: Elements, _ count: Int, width: Int, shift: UInt64,
        _ ends: UnsafeMutablePointer<UInt32>
    ) -> Bool {
        let digits = 1 << width
        ends.update(repeating: 0, count: digits)
        self.count(elements, count, digits: digits, shift: shift, into: ends)
        var offset: UInt32 = 0
        for digit in 0..<digits {
            if Int(ends[digit]) == count { return false }
            (ends[digit], offset) = (offset, offset &+ ends[digit])
        }
        scatter(elements, count, digits: digits, shift: shift, to: other, at: ends)
        return true
    }

    /// Adds how often each digit occurs. `digits` is a power of two.
    @inline(__always) func count(
        _ elements: Elements, _ count: Int, digits: Int, shift: UInt64,
        into counts: UnsafeMutablePointer<UInt32>
    ) {
        for index in 0..<count { counts[digit(elements[index], digits, shift)] &+= 1 }
    }

    /// Moves each element to the offset of its digit, which advances by one.
    @inline(__always) func scatter(
        _ elements: Elements, _ count: Int, digits: Int, shift: UInt64, to target: Elements,
        at offsets: UnsafeMutablePointer<UInt32>
    ) {
        for index in 0..<count {
            let element = elements[index]
            let digit = digit(element, digits, shift)
            let offset = offsets[digit]
            target[Int(offset)] = element
            offsets[digit] = offset &+ 1
        }
    }

    @inline(__always) private func digit(_ element: Key.Element, _ digits: Int, _ shift: UInt64) -> Int {
        Int(truncatingIfNeeded: (key.key(element) &>> shift) & UInt64(truncatingIfNeeded: digits &- 1))
    }

    @inline(__always) private func insert(_ elements: Elements, _ count: Int) {
        var sorted = 1
        while sorted < count {
            let moving = elements[sorted]
            let value = key.key(moving)
            var offset = sorted
            while offset > 0, key.key(elements[offset &- 1]) > value {
                elements[offset] = elements[offset &- 1]
                offset &-= 1
            }
            elements[offset] = moving
            sorted &+= 1
        }
    }
}
