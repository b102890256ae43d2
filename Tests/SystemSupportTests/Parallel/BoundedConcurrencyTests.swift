// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Bounded concurrency")
struct BoundedConcurrencyTests {
    @Test("visits each index once", arguments: [(0, 4), (1, 4), (7, 1), (1000, 3), (3, 100), (5, 0)])
    func once(_ count: Int, _ threads: Int) {
        let visits = Mutex([Int](repeating: 0, count: count))
        BoundedConcurrency.forEach(below: count, threads: threads) { index in
            visits.withLock { $0[index] += 1 }
        }
        #expect(visits.withLock { $0.allSatisfy { $0 == 1 } })
    }

    @Test("uses at most as many threads as it may", arguments: [1, 2, 3])
    func limit(_ threads: Int) {
        let running = Mutex((now: 0, most: 0))
        BoundedConcurrency.forEach(below: 2000, threads: threads) { _ in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            running.withLock { $0.now -= 1 }
        }
        #expect(running.withLock { $0.most } <= threads)
    }

    @Test("gives results in the order of the indexes", arguments: [0, 1, 2, 999])
    func order(_ count: Int) {
        let results = BoundedConcurrency.map(below: count, threads: 4) { "\($0)" }
        #expect(results == (0..<count).map { "\($0)" })
    }
}
