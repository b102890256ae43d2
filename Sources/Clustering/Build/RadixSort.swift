// SPDX-License-Identifier: MIT
import SystemSupport

/// A stable most-significant-digit radix sort of trivial elements.
///
/// All threads distribute the elements by the highest digit. Each part is then sorted by one thread, in its processor's cache: sorting by
/// the lowest digit first would move all elements through the memory that the processors share, once for each digit.
enum RadixSort {
    /// Sorts `count` elements of `source` by their keys, which have at most `bits` bits, with `spare` as working memory.
    ///
    /// If cancelled, the elements are in any order.
    ///
    /// - Complexity: O(count × bits / 11) at most; a digit that all elements share costs only the counting.
    static func sort<Key: RadixKey>(
        _ source: UnsafeMutablePointer<Key.Element>, spare: UnsafeMutablePointer<Key.Element>, count: Int,
        bits: Int, by key: Key, parallel: Parallel
    ) {
        sort(source, spare, count, bits: bits, isWantedInOther: false, by: key, parallel)
    }

    /// The numbers of bits of a digit by which all threads distribute. A thread writes to as many places at once as there are digits.
    private static let digitBits = 8...11
    /// About the binary logarithm of the number of elements in a part.
    private static let partBits = 11
    /// The number of portions into which the parts are divided for each thread: several, so that no thread waits long for the slowest.
    private static let portionsOfThread = 8

    /// - Parameter isWantedInOther: whether the sorted elements are to be in `other` instead of `elements`.
    private static func sort<Key: RadixKey>(
        _ elements: UnsafeMutablePointer<Key.Element>, _ other: UnsafeMutablePointer<Key.Element>,
        _ count: Int, bits: Int, isWantedInOther: Bool, by key: Key, _ parallel: Parallel
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
                elements, other, count, bits: bits - width, isWantedInOther: isWantedInOther, by: key,
                parallel)
        }
        let most = max(
            count / (portionsOfThread * parallel.threads), min(1 << partBits, parallel.smallestShare))
        var portions: [Range<Int>] = []
        var first = 0
        for digit in 0..<1 << width {
            let end = Int(starts.base[digit + 1])
            let isLarge = end - Int(starts.base[digit]) > 2 * most && parallel.threads > 1
            if isLarge {
                if digit > first { portions.append(first..<digit) }
                let start = Int(starts.base[digit])
                sort(
                    other + start, elements + start, end - start, bits: bits - width,
                    isWantedInOther: !isWantedInOther, by: key, parallel)
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
    /// - Returns: false if all elements have the same digit, or the work was cancelled; the elements are then still in `source`.
    private static func distribute<Key: RadixKey>(
        _ source: UnsafeMutablePointer<Key.Element>, _ target: UnsafeMutablePointer<Key.Element>,
        _ count: Int, width: Int, shift: UInt64, by key: Key, _ parallel: Parallel,
        starts: UnsafeMutablePointer<UInt32>
    ) -> Bool {
        // Each share has a table of digits.
        let shares = parallel.shares(of: count, perThread: 2)
        let digits = 1 << width
        let places = Scratch<UInt32>(capacity: shares * digits)
        let part = RadixPart(key: key)
        // Counts of a cancelled pass are too small.
        parallel.run(shares) { share in
            let counts = places.base + share * digits
            counts.update(repeating: 0, count: digits)
            parallel.forEachPart(of: share, of: shares, count: count) {
                part.count(source + $0.lowerBound, $0.count, digits: digits, shift: shift, into: counts)
            }
        }
        if parallel.isCancelled() { return false }
        var place: UInt32 = 0
        for digit in 0..<digits {
            starts[digit] = place
            for share in 0..<shares {
                let here = places.base[share * digits + digit]
                places.base[share * digits + digit] = place
                place &+= here
            }
            if Int(place &- starts[digit]) == count { return false }
        }
        starts[digits] = place
        parallel.run(shares) { share in
            parallel.forEachPart(of: share, of: shares, count: count) {
                part.scatter(
                    source + $0.lowerBound, $0.count, digits: digits, shift: shift, to: target,
                    at: places.base + share * digits)
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
