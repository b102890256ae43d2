// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Parallel work") struct ParallelTests {
    private static let helpers: [Parallel.Helpers] = [.shared, .own, .awake]

    @Test("visits each index once", arguments: [(0, 4), (1, 4), (7, 1), (1000, 3), (3, 100), (5, 0)], helpers)
    func once(_ size: (count: Int, threads: Int), _ helpers: Parallel.Helpers) {
        let visits = Mutex([Int](repeating: 0, count: size.count))
        Parallel(helpers, threads: size.threads).forEach(below: size.count) { index in
            visits.withLock { $0[index] += 1 }
        }
        #expect(visits.withLock { $0 } == [Int](repeating: 1, count: size.count))
    }

    @Test("uses at most as many threads as it may, with different numbers", arguments: [1, 2, 3], helpers)
    func limit(_ threads: Int, _ helpers: Parallel.Helpers) {
        let running = Mutex((now: Set<Int>(), most: 0, clashes: 0))
        Parallel(helpers, threads: threads).run(2000) { (_: Int, thread: Int) in
            running.withLock {
                if !$0.now.insert(thread).inserted { $0.clashes += 1 }
                $0.most = max($0.most, $0.now.count)
            }
            running.withLock { _ = $0.now.remove(thread) }
        }
        #expect(running.withLock { $0.most } <= threads)
        #expect(running.withLock { $0.clashes } == 0)
    }

    @Test("gives results in the order of the indexes", arguments: [0, 1, 2, 999], helpers)
    func order(_ count: Int, _ helpers: Parallel.Helpers) {
        let results = Parallel(helpers, threads: 4).map(below: count) { "\($0)" }
        #expect(results == (0..<count).map { "\($0)" })
    }

    @Test("shares cover a range, each with the least number of elements", arguments: [0..<0, 5..<6, 3..<1000])
    func shares(_ range: Range<Int>) {
        let seen = Mutex<[Range<Int>]>([])
        Parallel(.shared, threads: 4).forEachShare(of: range, smallest: 300) { share in
            seen.withLock { $0.append(share) }
        }
        let shares = seen.withLock { $0.sorted { $0.lowerBound < $1.lowerBound } }
        #expect(shares.flatMap { Array($0) } == Array(range))
        #expect(shares.count == max(1, range.count / 300))
    }

    @Test("arrays and copies do not depend on the threads", arguments: [1, 4]) func arrays(_ threads: Int) {
        let parallel = Parallel(.shared, threads: threads)
        let values = parallel.array(count: 100_000) { UInt64($0 * 7) }
        #expect(values == (0..<100_000).map { UInt64($0 * 7) })
        let large = (0..<600_000).map { UInt64($0) }
        let copy: [UInt64] = large.withUnsafeBytes { parallel.copy($0) }
        #expect(copy == large)
    }
}
