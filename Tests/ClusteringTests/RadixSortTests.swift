// SPDX-License-Identifier: MIT
import SystemSupport
import Synchronization
import Testing

@testable import Clustering

@Suite("The sort") struct RadixSortTests {
    private struct Element: BitwiseCopyable {
        var key: UInt64
        var place: UInt32
    }

    private struct Key: RadixKey {
        func key(_ element: Element) -> UInt64 { element.key }
    }

    enum Shape: CaseIterable, Sendable {
        case uniform, equal, skewed, ascending, few

        func keys(_ count: Int, bits: Int) -> [UInt64] {
            var random = SeededGenerator(state: UInt64(count + bits))
            let mask = bits == 64 ? UInt64.max : (1 << UInt64(bits)) - 1
            return (0..<count).map { place in
                switch self {
                case .uniform: random.next() & mask
                case .equal: 5 & mask
                // Nearly all in one part, and again in one part of it.
                case .skewed: place % 50 == 0 ? random.next() & mask : random.next() & 0x3FF & mask
                case .ascending: UInt64(place) & mask
                case .few: (random.next() % 3) << UInt64(bits - 3)
                }
            }
        }
    }

    private func sorted(_ keys: [UInt64], bits: Int, _ parallel: Parallel) -> [Element] {
        let elements = Scratch<Element>(capacity: keys.count)
        let spare = Scratch<Element>(capacity: keys.count)
        for (place, key) in keys.enumerated() {
            elements.base[place] = Element(key: key, place: UInt32(place))
        }
        RadixSort.sort(
            elements.base, spare: spare.base, count: keys.count, bits: bits, by: Key(), parallel: parallel)
        return (0..<keys.count).map { elements.base[$0] }
    }

    @Test("is in order and stable, on one thread and on many", arguments: Shape.allCases, [3, 11, 30, 44, 64])
    func order(_ shape: Shape, _ bits: Int) {
        for count in [0, 1, 2, 23, 24, 25, 300, 5000, 20_000] {
            let keys = shape.keys(count, bits: bits)
            let expected = keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
            var numbers = keys
            NumberSort.sort(&numbers)
            #expect(numbers == expected.map { keys[$0] }, "\(count) numbers")
            for (threads, share) in [(1, Parallel.smallestShare), (4, 7), (3, 1000)] {
                let found = sorted(keys, bits: bits, Parallel(.awake, threads: threads, smallestShare: share))
                #expect(found.map { Int($0.place) } == expected, "\(count) elements, \(threads) threads")
            }
        }
    }

    @Test("keeps all elements if it is cancelled", arguments: Shape.allCases) func cancelled(_ shape: Shape) {
        let keys = shape.keys(5000, bits: 44)
        for patience in stride(from: 0, to: 40, by: 3) {
            let looks = Atomic(0)
            let found = sorted(
                keys, bits: 44,
                Parallel(
                    .awake, threads: 4, smallestShare: 7,
                    isCancelled: { looks.add(1, ordering: .relaxed).newValue > patience }))
            #expect(Set(found.map(\.place)).count == keys.count, "cancelled at look \(patience)")
        }
    }

    /// Counts how often elements are looked at.
    private struct CountedKey: RadixKey {
        let looks: Counted

        func key(_ element: Element) -> UInt64 {
            looks.total.add(1, ordering: .relaxed)
            return element.key
        }
    }

    private final class Counted: Sendable {
        let total = Atomic(0)
        let atCancel = Atomic(0)
        private let asked = Atomic(0)

        /// Says no so many times, then yes for ever.
        func isCancelled(after patience: Int) -> Bool {
            let asked = asked.add(1, ordering: .relaxed).newValue
            if asked == patience + 1 {
                atCancel.store(total.load(ordering: .relaxed), ordering: .relaxed)
            }
            return asked > patience
        }
    }

    @Test("a pass that distributes many elements stops within a few thousand after a cancel", arguments: [1, 3])
    func cancelledPass(_ threads: Int) {
        let count = 300_000
        let keys = Shape.uniform.keys(count, bits: 8)
        let (elements, spare) = (Scratch<Element>(capacity: count), Scratch<Element>(capacity: count))
        for patience in 0..<12 {
            for (place, key) in keys.enumerated() {
                elements.base[place] = Element(key: key, place: UInt32(place))
            }
            let counted = Counted()
            RadixSort.sort(
                elements.base, spare: spare.base, count: count, bits: 8, by: CountedKey(looks: counted),
                parallel: Parallel(
                    .awake, threads: threads, isCancelled: { counted.isCancelled(after: patience) }))
            let after =
                counted.total.load(ordering: .relaxed) - counted.atCancel.load(ordering: .relaxed)
            #expect(after <= threads * Parallel.itemsBetweenLooks, "cancelled at look \(patience)")
        }
    }
}
