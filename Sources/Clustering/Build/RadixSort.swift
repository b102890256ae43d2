// SPDX-License-Identifier: MIT

/// The key by which elements are sorted. It is a type instead of a closure so that it is inlined into the sort.
protocol RadixKey {
    associatedtype Element: BitwiseCopyable
    func key(_ element: Element) -> UInt64
}

/// A stable least-significant-digit radix sort of trivial elements.
enum RadixSort {
    private static let digitBits = 11
    private static let digits = 1 << digitBits

    /// Sorts `count` elements of `source` by the lowest `bits` bits of their keys, with `spare` as working memory.
    ///
    /// - Returns: whichever of the two buffers holds the sorted elements; the content of the other is lost. If
    ///   cancelled, all elements are in it, but in any order.
    /// - Complexity: O(count × bits / 11); a digit that all elements share costs only the counting.
    static func sort<Key: RadixKey>(
        _ source: UnsafeMutablePointer<Key.Element>, spare: UnsafeMutablePointer<Key.Element>, count: Int,
        bits: Int, by key: Key, parallel: Parallel
    ) -> UnsafeMutablePointer<Key.Element> {
        let shares = parallel.shares(of: count)
        let histograms = Scratch<UInt32>(capacity: shares * digits)
        var from = source
        var to = spare
        var shift = 0
        while shift < bits, !parallel.isCancelled() {
            let (input, output, digitShift) = (from, to, UInt64(shift))
            let counts = histograms.base
            parallel.run(shares) { share in
                let (start, end) = Parallel.bounds(share, of: shares, count: count)
                Self.count(input, start, end, shift: digitShift, by: key, into: counts + share * digits)
            }
            if Self.accumulate(counts, shares: shares, count: count) {
                parallel.run(shares) { share in
                    let (start, end) = Parallel.bounds(share, of: shares, count: count)
                    Self.scatter(
                        input, output, start, end, shift: digitShift, by: key, counts + share * digits)
                }
                swap(&from, &to)
            }
            shift += digitBits
        }
        return from
    }

    private static func count<Key: RadixKey>(
        _ source: UnsafeMutablePointer<Key.Element>, _ start: Int, _ end: Int, shift: UInt64, by key: Key,
        into counts: UnsafeMutablePointer<UInt32>
    ) {
        counts.update(repeating: 0, count: digits)
        for index in start..<end {
            let digit = Int(truncatingIfNeeded: (key.key(source[index]) &>> shift) & UInt64(digits - 1))
            counts[digit] &+= 1
        }
    }

    /// Converts counts to positions; returns false if all elements share the digit, so that nothing would move.
    private static func accumulate(_ counts: UnsafeMutablePointer<UInt32>, shares: Int, count: Int) -> Bool {
        var place: UInt32 = 0
        for digit in 0..<digits {
            let before = place
            for share in 0..<shares {
                let here = counts[share * digits + digit]
                counts[share * digits + digit] = place
                place &+= here
            }
            if Int(place &- before) == count { return false }
        }
        return true
    }

    private static func scatter<Key: RadixKey>(
        _ source: UnsafeMutablePointer<Key.Element>, _ target: UnsafeMutablePointer<Key.Element>,
        _ start: Int, _ end: Int, shift: UInt64, by key: Key, _ places: UnsafeMutablePointer<UInt32>
    ) {
        for index in start..<end {
            let element = source[index]
            let digit = Int(truncatingIfNeeded: (key.key(element) &>> shift) & UInt64(digits - 1))
            let place = places[digit]
            target[Int(place)] = element
            places[digit] = place &+ 1
        }
    }
}
