// SPDX-License-Identifier: MIT
import Testing

@testable import Calls

@Suite struct PoolQueueTests {
    private final class Record {
        var started: [String] = []
    }

    private let record = Record()

    private func add(_ name: String, _ lane: PoolQueue.Lane, to queue: PoolQueue) {
        let record = record
        queue.run(in: lane) { record.started.append(name) }
    }

    @Test func lanesTakeTurns() {
        let queue = PoolQueue(jobs: 2, jobsPerLane: 1)
        let (greedy, modest) = (PoolQueue.Lane(), PoolQueue.Lane())
        for number in 1...4 { add("g\(number)", greedy, to: queue) }
        add("m1", modest, to: queue)
        #expect(record.started == ["g1", "m1"])
        #expect(queue.depth == 3)
        queue.finished(in: greedy)
        add("m2", modest, to: queue)
        queue.finished(in: modest)
        #expect(record.started == ["g1", "m1", "g2", "m2"])
    }

    @Test func noMoreRunThanThereIsRoomFor() {
        let queue = PoolQueue(jobs: 3, jobsPerLane: 2)
        let lanes = (0..<3).map { _ in PoolQueue.Lane() }
        for (number, lane) in lanes.enumerated() {
            for job in 0..<3 { add("\(number).\(job)", lane, to: queue) }
        }
        #expect(record.started == ["0.0", "0.1", "1.0"])
        queue.finished(in: lanes[0])
        #expect(record.started.last == "1.1" || record.started.last == "2.0")
        #expect(record.started.count == 4)
    }

    @Test func aHeldLaneWaitsUntilItsClientHasRead() {
        let queue = PoolQueue(jobs: 2, jobsPerLane: 2)
        let lane = PoolQueue.Lane()
        queue.hold(lane, true)
        add("a", lane, to: queue)
        #expect(record.started.isEmpty)
        queue.hold(lane, false)
        #expect(record.started == ["a"])
    }

    @Test func whatWaitsForAConnectionThatHasGoneNeverStarts() {
        let queue = PoolQueue(jobs: 1, jobsPerLane: 1)
        let (gone, other) = (PoolQueue.Lane(), PoolQueue.Lane())
        add("a", gone, to: queue)
        add("b", gone, to: queue)
        add("c", other, to: queue)
        queue.clear(gone)
        queue.finished(in: gone)
        #expect(record.started == ["a", "c"])
        queue.finished(in: other)
        #expect(queue.depth == 0)
        #expect(record.started == ["a", "c"])
    }
}
