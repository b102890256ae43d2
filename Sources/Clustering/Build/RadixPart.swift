// SPDX-License-Identifier: MIT

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
                var start = 0
                for digit in 0..<1 << width {
                    let end = Int(ends[digit])
                    if end > start {
                        sort(
                            other + start, elements + start, end - start, bits: bits,
                            isWantedInOther: !isWantedInOther)
                    }
                    start = end
                }
                return true
            }
            if isDone { return }
        }
        if isWantedInOther { other.update(from: elements, count: count) }
        if bits > 0 { insert(isWantedInOther ? other : elements, count) }
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
        var place: UInt32 = 0
        for digit in 0..<digits {
            if Int(ends[digit]) == count { return false }
            (ends[digit], place) = (place, place &+ ends[digit])
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

    /// Moves each element to the place of its digit, which advances by one.
    @inline(__always) func scatter(
        _ elements: Elements, _ count: Int, digits: Int, shift: UInt64, to target: Elements,
        at places: UnsafeMutablePointer<UInt32>
    ) {
        for index in 0..<count {
            let element = elements[index]
            let digit = digit(element, digits, shift)
            let place = places[digit]
            target[Int(place)] = element
            places[digit] = place &+ 1
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
            var place = sorted
            while place > 0, key.key(elements[place &- 1]) > value {
                elements[place] = elements[place &- 1]
                place &-= 1
            }
            elements[place] = moving
            sorted &+= 1
        }
    }
}
