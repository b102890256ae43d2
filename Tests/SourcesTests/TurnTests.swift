// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import Testing

@testable import Aggregates
@testable import Answers
@testable import SourceStorage
@testable import Sources
@testable import SystemSupport

@Suite("Turns")
struct TurnTests {
    @Test("those who wait are let in in the order in which they came; who gave up is passed over")
    func order() throws {
        let turn = Turn()
        let entered = Mutex<[Int]>([])
        let isOver = Atomic(false)
        let group = DispatchGroup()
        try turn.take(.never) { () throws(SourceError) in
            for number in 0..<6 {
                let cancellation = Cancellation { number == 2 && isOver.load(ordering: .relaxed) }
                let thread = Thread {
                    defer { group.leave() }
                    _ = try? turn.take(cancellation) { () throws(SourceError) in
                        entered.withLock { $0.append(number) }
                    }
                }
                group.enter()
                thread.start()
                while turn.waitingCount <= number { sched_yield() }
            }
            isOver.store(true, ordering: .relaxed)
            while turn.waitingCount == 6 { sched_yield() }
        }
        group.wait()
        #expect(entered.withLock { $0 } == [0, 1, 3, 4, 5])
        #expect(turn.waitingCount == 0)
    }
}
