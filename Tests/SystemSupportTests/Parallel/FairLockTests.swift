// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Fair locks")
struct FairLockTests {
    private struct GaveUp: Error {}

    @Test("waiting threads get the lock in the order of their calls; one that gave up is passed over")
    func order() throws {
        let lock = FairLock()
        let entered = Mutex<[Int]>([])
        let isOver = Atomic(false)
        let group = DispatchGroup()
        try lock.withLock(.never, orThrow: GaveUp()) { () throws(GaveUp) in
            for number in 0..<6 {
                let cancellation = Cancellation { number == 2 && isOver.load(ordering: .relaxed) }
                let thread = Thread {
                    defer { group.leave() }
                    _ = try? lock.withLock(cancellation, orThrow: GaveUp()) { () throws(GaveUp) in
                        entered.withLock { $0.append(number) }
                    }
                }
                group.enter()
                thread.start()
                while lock.waitingCount <= number { sched_yield() }
            }
            isOver.store(true, ordering: .relaxed)
            while lock.waitingCount == 6 { sched_yield() }
        }
        group.wait()
        #expect(entered.withLock { $0 } == [0, 1, 3, 4, 5])
        #expect(lock.waitingCount == 0)
    }
}
