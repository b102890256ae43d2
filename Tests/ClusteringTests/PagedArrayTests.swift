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

    @Test(
        "copies of an array of many pages keep their values whatever order they are written and released in",
        arguments: 1...4 as ClosedRange<UInt64>)
    func manyPages(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        // Four groups of 16 pages of 256 values, and a part of a fifth.
        let count = 4 * 16 * 256 + 1000
        let values = (0..<count).map { _ in random.next() }
        var first = PagedArray<UInt64>()
        for value in values { first.append(value) }
        var copies = [(first, values)]
        for _ in 0..<60 {
            let from = Int(random.next() % UInt64(copies.count))
            var (paged, plain) = copies[from]
            for _ in 0..<Int(random.next() % 40) {
                let (place, value) = (Int(random.next() % UInt64(plain.count)), random.next())
                paged[place] = value
                plain[place] = value
            }
            // Across the ends of pages and groups.
            for _ in 0..<Int(random.next() % 3) * 700 {
                if random.next() % 2 == 0 {
                    let value = random.next()
                    paged.append(value)
                    plain.append(value)
                } else {
                    paged.removeLast()
                    plain.removeLast()
                }
            }
            if random.next() % 3 == 0 { copies.remove(at: Int(random.next() % UInt64(copies.count))) }
            copies.append((paged, plain))
            // In place, while others share its pages.
            let last = copies.count - 1
            copies[last].0[plain.count / 2] = 7
            copies[last].1[plain.count / 2] = 7
        }
        for (paged, plain) in copies { #expect(paged.indices.allSatisfy { paged[$0] == plain[$0] }) }
    }

    @Test("an array and its copy are both written, in any order", arguments: [1, 300, 5000])
    func bothAreWritten(count: Int) {
        var first = PagedArray<UInt64>(repeating: 1, count: count)
        var second = first
        second[0] = 2
        for _ in 0..<600 { second.append(2) }
        first[0] = 3
        first[count - 1] = 4
        for _ in 0..<600 { first.append(3) }
        second[count - 1] = 5
        for index in 0..<count {
            #expect(first[index] == (index == count - 1 ? 4 : index == 0 ? 3 : 1))
            #expect(second[index] == (index == count - 1 ? 5 : index == 0 ? 2 : 1))
        }
        #expect((count..<count + 600).allSatisfy { first[$0] == 3 && second[$0] == 2 })
    }

    @Test("an array shrinks to nothing over the ends of its groups, and grows again") func shrinks() {
        var paged = PagedArray<UInt64>(repeating: 3, count: 33 * 256)
        let copy = paged
        while !paged.isEmpty { paged.removeLast() }
        #expect(paged.isEmpty)
        for value in 0..<UInt64(33 * 256 + 1) { paged.append(value) }
        #expect(paged.indices.allSatisfy { paged[$0] == UInt64($0) })
        #expect(copy.indices.allSatisfy { copy[$0] == 3 })
    }

    @Test("memory that no copy reads is used again", arguments: [false, true])
    func memoryIsUsedAgain(isFirstKept: Bool) {
        var random = SeededGenerator(state: 5)
        var paged = PagedArray<UInt64>(repeating: 0, count: 64 * 256)
        var plain = [UInt64](repeating: 0, count: paged.count)
        let first = isFirstKept ? paged : PagedArray()
        let size = paged.memoryBytes
        var previous = paged
        for _ in 0..<40 {
            for _ in 0..<500 {
                let (place, value) = (Int(random.next() % UInt64(plain.count)), random.next())
                paged[place] = value
                plain[place] = value
            }
            previous = paged
        }
        #expect(previous.indices.allSatisfy { previous[$0] == plain[$0] })
        #expect(first.indices.allSatisfy { first[$0] == 0 })
        // The newest copy's pages, the previous one's, and the first one's.
        #expect(paged.memoryBytes > size)
        #expect(paged.memoryBytes <= (isFirstKept ? 3 : 2) * size)
        while paged.count > 1 { paged.removeLast() }
        #expect(previous.indices.allSatisfy { previous[$0] == plain[$0] })
    }

    @Test("copies are read while others are written") func readersAndWriters() async {
        let values = (0..<20_000 as Range<UInt64>).map { $0 &* 0x9e37_79b9_7f4a_7c15 }
        var paged = PagedArray<UInt64>()
        for value in values { paged.append(value) }
        await withTaskGroup(of: Bool.self) { group in
            for round in 1...60 as ClosedRange<UInt64> {
                let copy = paged
                group.addTask {
                    copy.indices.allSatisfy { copy[$0] == values[$0] &+ ($0 % 7 == 0 ? round &- 1 : 0) }
                }
                for index in stride(from: 0, to: values.count, by: 7) { paged[index] = values[index] &+ round }
            }
            for await isRight in group { #expect(isRight, "a copy changed while it was read") }
        }
    }

    @Test("an array of a repeated value has it at every index", arguments: [0, 1, 255, 256, 257, 5000])
    func repeats(count: Int) {
        let paged = PagedArray<UInt64>(repeating: 7, count: count)
        #expect(paged.count == count)
        #expect(paged.indices.allSatisfy { paged[$0] == 7 })
    }

    @Test("A map's copies keep their values while it grows and changes") func mapsAreValues() {
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
