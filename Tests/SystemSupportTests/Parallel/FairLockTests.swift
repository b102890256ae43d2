// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Fair locks") struct FairLockTests {
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

    @Test("threads that share the lock hold it together; one that needs it alone comes in its turn")
    func sharing() throws {
        let lock = FairLock()
        let entered = Mutex<[Int]>([])
        let group = DispatchGroup()
        func start(_ number: Int, isShared: Bool) {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                func body() throws(GaveUp) { entered.withLock { $0.append(number) } }
                if isShared {
                    try? lock.withSharedLock(.never, orThrow: GaveUp(), body)
                } else {
                    try? lock.withLock(.never, orThrow: GaveUp(), body)
                }
            }
            thread.start()
        }
        try lock.withSharedLock(.never, orThrow: GaveUp()) { () throws(GaveUp) in
            start(0, isShared: true)
            while entered.withLock(\.count) < 1 { sched_yield() }
            start(1, isShared: false)
            while lock.waitingCount < 1 { sched_yield() }
            start(2, isShared: true)
            while lock.waitingCount < 2 { sched_yield() }
            #expect(lock.sharerCount == 1)
        }
        group.wait()
        #expect(entered.withLock { $0 } == [0, 1, 2])
        #expect(lock.sharerCount == 0)
    }
}
