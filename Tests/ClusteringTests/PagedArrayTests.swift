// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Values in pages that copies share")
struct PagedArrayTests {
    @Test(
        "A paged array and all its earlier copies have an array's values",
        arguments: 1...8 as ClosedRange<UInt64>)
    func followsArrays(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var paged = PagedArray<UInt64>()
        var plain: [UInt64] = []
        var earlier: [(PagedArray<UInt64>, [UInt64])] = []
        for step in 0..<4000 {
            switch random.next() % 8 {
            case 0 where !plain.isEmpty:
                paged.removeLast()
                plain.removeLast()
            case 1...3 where !plain.isEmpty:
                let (place, value) = (Int(random.next() % UInt64(plain.count)), random.next())
                paged[place] = value
                plain[place] = value
            default:
                let value = random.next()
                paged.append(value)
                plain.append(value)
            }
            if step % 500 == 0 { earlier.append((paged, plain)) }
        }
        earlier.append((paged, plain))
        for (paged, plain) in earlier {
            #expect(paged.indices.map { paged[$0] } == plain)
            #expect(paged.isEmpty == plain.isEmpty)
        }
    }

    @Test("an array of a repeated value has it at every index", arguments: [0, 1, 255, 256, 257, 5000])
    func repeats(count: Int) {
        let paged = PagedArray<UInt64>(repeating: 7, count: count)
        #expect(paged.count == count)
        #expect(paged.indices.allSatisfy { paged[$0] == 7 })
    }

    @Test("A map's copies keep their values while it grows and changes")
    func mapsAreValues() {
        var map = PagedNumberMap()
        var copies: [PagedNumberMap] = []
        for round in 0..<10 as Range<UInt32> {
            for key in 0..<(round + 1) * 300 { map.set(key * 7919, key &+ round) }
            copies.append(map)
        }
        for (round, copy) in zip(0..<10 as Range<UInt32>, copies) {
            #expect(copy.count == Int(round + 1) * 300)
            for key in 0..<3300 as Range<UInt32> {
                let expected = key < (round + 1) * 300 ? key &+ round : nil
                #expect(copy[key * 7919] == expected)
            }
        }
    }
}
