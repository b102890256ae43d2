// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Handovers between threads") struct HandoverTests {
    @Test("elements arrive once and in order", arguments: [1, 2], [0, 1, 1000])
    func order(threads: Int, count: Int) {
        let handover = Handover<Int>()
        let received = Mutex<[Int]>([])
        // With one thread the parts run one after the other.
        Parallel(.shared, threads: threads, smallestShare: 1).run(2) { part, _ in
            guard part == 0 else { return handover.forEach { element in received.withLock { $0.append(element) } } }
            for element in 0..<count { handover.send(element) }
            handover.end()
        }
        #expect(received.withLock { $0 } == Array(0..<count))
    }
}
