// SPDX-License-Identifier: MIT
import Synchronization
@testable import SystemSupport
import Testing

@Suite("Threads that stay awake") struct AwakeThreadsTests {
    /// Adds up, by share, how often it was called.
    private func calls(_ threads: AwakeThreads, shares: Int) -> [Int] {
        let calls = Mutex([Int](repeating: 0, count: shares))
        threads.run(shares) { share, _ in calls.withLock { $0[share] += 1 } }
        return calls.withLock { $0 }
    }

    @Test("runs each share of many passes once, and returns when the pass has ended", arguments: [1, 2, 4, 9])
    func passes(count: Int) {
        let threads = AwakeThreads(threads: count)
        for pass in 0..<2000 {
            let shares = pass % 40
            #expect(calls(threads, shares: shares) == [Int](repeating: 1, count: shares))
        }
    }

    @Test("runs passes that begin after its threads have fallen asleep") func sleepers() {
        let threads = AwakeThreads(threads: 4)
        var sum = 0
        for pass in 1...20 {
            #expect(calls(threads, shares: 8) == [Int](repeating: 1, count: 8))
            // Longer than its threads stay awake.
            for item in 0..<2_000_000 { sum = sum &+ item &* pass }
        }
        #expect(sum != 42)
    }

    @Test("never gives two simultaneous shares the same worker") func workers() {
        let threads = AwakeThreads(threads: 4)
        let busy = Mutex([Bool](repeating: false, count: 4))
        let isShared = Mutex(false)
        for _ in 0..<500 {
            threads.run(16) { _, worker in
                let wasBusy = busy.withLock { busy in
                    defer { busy[worker] = true }
                    return busy[worker]
                }
                if wasBusy { isShared.withLock { $0 = true } }
                busy.withLock { $0[worker] = false }
            }
        }
        #expect(!isShared.withLock { $0 })
    }

    @Test("runs a pass within a pass, and passes of several threads") func nested() {
        let threads = AwakeThreads(threads: 3)
        let count = Atomic(0)
        threads.run(5) { _, _ in
            threads.run(7) { _, _ in count.add(1, ordering: .relaxed) }
        }
        Parallel(.shared, threads: 4).forEach(below: 100) { _ in
            threads.run(7) { _, _ in count.add(1, ordering: .relaxed) }
        }
        #expect(count.load(ordering: .relaxed) == 735)
    }

    @Test("ends its threads, also with a pass right before") func ends() {
        for _ in 0..<300 {
            let threads = AwakeThreads(threads: 4)
            #expect(calls(threads, shares: 6) == [Int](repeating: 1, count: 6))
        }
    }
}
