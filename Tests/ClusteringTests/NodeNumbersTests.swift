// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Numbers of nodes") struct NodeNumbersTests {
    /// Few and many numbers, of nodes of the base and of others, beside a dictionary.
    @Test("are those that were set, in every copy", arguments: [(0, 0), (3000, 0), (3000, 700), (40_000, 9000)])
    func areThoseThatWereSet(points: Int, clusters: Int) {
        var random = SeededGenerator(state: UInt64(points))
        var numbers = NodeNumbers(points: points, clusters: clusters, absent: 0)
        var model: [UInt32: UInt32] = [:]
        var copies: [(NodeNumbers, [UInt32: UInt32])] = []
        for round in 0..<6 {
            for _ in 0..<1000 {
                let point = NodeKey(PointIndex(rawValue: UInt32.random(in: 0..<UInt32(points + 2000), using: &random)))
                let ordinal = UInt32.random(in: 0..<UInt32(clusters + 2000), using: &random)
                let key = random.next() % 2 == 0 ? point : NodeKey(ClusterOrdinal(rawValue: ordinal))
                let number = UInt32.random(in: 1...UInt32.max, using: &random)
                numbers.fetch(key.rawValue)
                numbers.set(key.rawValue, number)
                model[key.rawValue] = number
            }
            copies.append((numbers, model))
            #expect(numbers.memoryBytes >= model.count * 4, "round \(round)")
        }
        for (round, (copy, expected)) in copies.enumerated() {
            let entries = copy.entries
            #expect(entries.count == expected.count, "round \(round)")
            #expect(entries.allSatisfy { expected[$0.key] == $0.value }, "round \(round)")
            for key in model.keys { #expect(copy[key] == expected[key], "round \(round), key \(key)") }
        }
    }

    @Test("one that says that there is none is none again") func absence() {
        var numbers = NodeNumbers(points: 10, clusters: 0, absent: 0)
        for key in 0..<1100 as Range<UInt32> { numbers.set(key, 7) }
        numbers.set(3, 0)
        #expect(numbers[3] == nil)
        #expect(numbers[4] == 7)
    }

    @Test("a base without nodes takes many points") func emptyBase() throws {
        var index = try ClusterIndex.build([Position](), ClusteringOptions())
        for start in stride(from: 0, to: 2560, by: 64) {
            var changes = PointChanges()
            changes.added = (start..<start + 64).map {
                .init(
                    point: PointIndex(rawValue: UInt32($0)), longitude: Double($0 % 360) - 180,
                    latitude: Double($0 % 80))
            }
            guard let update = index.updated(changes, coordinates: { _ in (0, 0) }) else { break }
            index = update.index
        }
        #expect(index.pointCount > 1100, "the index refused changes early")
    }
}
