// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import SystemSupport

@Suite("Use order") struct UseOrderTests {
    @Test("the least recently used key is removed first") func evictsLeastRecentlyUsed() {
        var order = UseOrder<String>()
        for key in ["a", "b", "c"] { order.put(key, bytes: 10) }
        order.touch("a")
        order.touch("never put")
        #expect(order.removeOldest(toFit: 30).isEmpty)
        #expect(order.removeOldest(toFit: 29) == ["b"])
        #expect(order.removeOldest(toFit: 0) == ["c"])
        #expect(order.bytes == 10)
    }

    /// Beside a list that is searched from its front.
    @Test("equals a list of keys") func asAListOfKeys() {
        var random = SeededRandom(seed: 4)
        var order = UseOrder<Int>()
        var list: [(key: Int, bytes: Int)] = []
        for _ in 0..<5000 {
            let key = Int.random(in: 0..<40, using: &random)
            let place = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                if let place { list.remove(at: place) }
                order.remove(key)
            case 1...2:
                if let place { list.remove(at: place) }
                list.append((key, Int.random(in: 0..<100, using: &random)))
                order.put(key, bytes: list[list.count - 1].bytes)
                var removed: [Int] = []
                while list.count > 1, list.reduce(0, { $0 + $1.bytes }) > 1000 {
                    removed.append(list.removeFirst().key)
                }
                #expect(order.removeOldest(toFit: 1000) == removed)
            default:
                if let place { list.append(list.remove(at: place)) }
                order.touch(key)
            }
            #expect(order.leastRecentFirst == list.map(\.key))
            #expect(order.bytes(of: key) == list.first { $0.key == key }?.bytes)
            #expect(order.bytes == list.reduce(0) { $0 + $1.bytes })
            #expect(order.bytes { $0 < 20 } == list.reduce(0) { $0 + ($1.key < 20 ? $1.bytes : 0) })
        }
    }
}
