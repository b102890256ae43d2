// SPDX-License-Identifier: MIT
import SourceEngine
import TestSupport
import Testing

@testable import RPC

@Suite("Pool queue") struct PoolQueueTests {
    private final class Record {
        var started: [String] = []
    }

    private let record = Record()

    private func jobQueue(_ user: UInt32 = 1) -> PoolQueue.JobQueue {
        PoolQueue.JobQueue(UnreadAccount(UserShare(.user(user)))) { $0() }
    }

    private func add(_ name: String, _ jobQueue: PoolQueue.JobQueue, to queue: PoolQueue) {
        let record = record
        queue.run(in: jobQueue) { record.started.append(name) }
    }

    @Test("job queues take turns") func jobQueuesTakeTurns() {
        let queue = PoolQueue(jobs: 2, jobsPerUser: 2, jobsPerQueue: 1)
        let (greedy, modest) = (jobQueue(), jobQueue())
        for number in 1...4 { add("g\(number)", greedy, to: queue) }
        add("m1", modest, to: queue)
        #expect(record.started == ["g1", "m1"])
        #expect(queue.depth == 3)
        queue.finished(in: greedy)
        add("m2", modest, to: queue)
        queue.finished(in: modest)
        #expect(record.started == ["g1", "m1", "g2", "m2"])
    }

    @Test("the number of running jobs is bounded") func noMoreRunThanThereIsRoomFor() {
        let queue = PoolQueue(jobs: 3, jobsPerUser: 3, jobsPerQueue: 2)
        let jobQueues = (0..<3).map { _ in jobQueue() }
        for (number, jobQueue) in jobQueues.enumerated() {
            for job in 0..<3 { add("\(number).\(job)", jobQueue, to: queue) }
        }
        #expect(record.started == ["0.0", "0.1", "1.0"])
        queue.finished(in: jobQueues[0])
        #expect(record.started.last == "1.1" || record.started.last == "2.0")
        #expect(record.started.count == 4)
    }

    @Test("a held job queue waits until its client has read its answers") func aHeldJobQueueWaitsUntilItsClientHasRead()
    {
        let queue = PoolQueue(jobs: 2, jobsPerUser: 2, jobsPerQueue: 2)
        let jobQueue = jobQueue()
        queue.hold(jobQueue, true)
        add("a", jobQueue, to: queue)
        #expect(record.started.isEmpty)
        queue.hold(jobQueue, false)
        #expect(record.started == ["a"])
    }

    @Test("jobs of a closed connection never start") func whatWaitsForAConnectionThatHasGoneNeverStarts() {
        let queue = PoolQueue(jobs: 1, jobsPerUser: 1, jobsPerQueue: 1)
        let (gone, other) = (jobQueue(), jobQueue())
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

    @Test("users take turns, whatever their numbers of connections") func usersTakeTurnsHoweverManyConnectionsOneHas() {
        let queue = PoolQueue(jobs: 1, jobsPerUser: 1, jobsPerQueue: 1)
        let greedy = (0..<3).map { _ in jobQueue(1) }
        for number in 0..<3 { for job in 0..<2 { add("g\(number).\(job)", greedy[number], to: queue) } }
        let modest = jobQueue(2)
        add("m0", modest, to: queue)
        add("m1", modest, to: queue)
        #expect(record.started == ["g0.0"])
        for finished in [greedy[0], modest, greedy[1], modest, greedy[2]] { queue.finished(in: finished) }
        #expect(
            record.started == ["g0.0", "g1.0", "m0", "g2.0", "m1", "g0.1"] || record.started.firstIndex(of: "m0")! <= 2)
        #expect(record.started.firstIndex(of: "m1")! <= 4)
    }

    @Test("one thread stays free for other users, whatever a user's number of connections")
    func aThreadIsLeftForOtherUsers() {
        let queue = PoolQueue(jobs: 3, jobsPerUser: 2, jobsPerQueue: 2)
        for number in 0..<4 { add("g\(number)", jobQueue(1), to: queue) }
        #expect(record.started == ["g0", "g1"])
        add("m", jobQueue(2), to: queue)
        #expect(record.started == ["g0", "g1", "m"])
    }

    @Test("a closed gate stops only its user") func aClosedGateHoldsItsUserOnly() {
        let blocked = UserShare(.user(1))
        let queue = PoolQueue(jobs: 2, jobsPerUser: 2, jobsPerQueue: 2) { connection, _ in
            connection.share[.unread] == 0
        }
        let own = PoolQueue.JobQueue(UnreadAccount(blocked)) { $0() }
        blocked.add(1, to: .unread)
        add("a", own, to: queue)
        add("b", jobQueue(2), to: queue)
        #expect(record.started == ["b"])
        queue.retry()
        #expect(record.started == ["b"])
        blocked.add(-1, to: .unread)
        queue.retry()
        #expect(record.started == ["b", "a"])
    }

    @Test("a job's claim closes the gate before the next job passes it") func aClaimClosesTheGate() {
        let share = UserShare(.user(1))
        let queue = PoolQueue(jobs: 3, jobsPerUser: 3, jobsPerQueue: 1) { connection, _ in
            connection.share[.reading] == 0
        }
        let jobQueues = (0..<3).map { _ in PoolQueue.JobQueue(UnreadAccount(share)) { $0() } }
        share.add(1, to: .reading)
        for (number, jobQueue) in jobQueues.enumerated() {
            let record = record
            queue.run(in: jobQueue, claim: { share.add(1, to: .reading) }) { record.started.append("\(number)") }
        }
        for (number, jobQueue) in jobQueues.enumerated() {
            share.add(-1, to: .reading)
            queue.retry()
            #expect(record.started == (0...number).map { "\($0)" })
            queue.finished(in: jobQueue)
        }
    }

    @Test("a job that the gate stops because of another one starts when that one ends")
    func aJobStartsWhenAnotherEnds() {
        let queue = PoolQueue(jobs: 8, jobsPerUser: 4, jobsPerQueue: 2) { connection, running in
            connection.share[.unread] == 0 || running == 0
        }
        let greedy = UserShare(.user(1))
        let jobQueues = (0..<3).map { _ in PoolQueue.JobQueue(UnreadAccount(greedy)) { $0() } }
        greedy.add(1, to: .unread)
        for job in 0..<2 {
            for (number, jobQueue) in jobQueues.enumerated() { add("\(number).\(job)", jobQueue, to: queue) }
        }
        #expect(record.started == ["0.0"])
        // Another user's jobs do not wait.
        for number in 0..<2 { add("other.\(number)", jobQueue(2), to: queue) }
        #expect(record.started == ["0.0", "other.0", "other.1"])
        // The job queues take turns.
        for number in [0, 1, 2, 0] { queue.finished(in: jobQueues[number]) }
        #expect(record.started.dropFirst(3) == ["1.0", "2.0", "0.1", "1.1"])
        greedy.add(-1, to: .unread)
        queue.retry()
        #expect(record.started.last == "2.1")
        #expect(queue.depth == 0)
    }

    @Test("no job waits that the gate permits, in any order of events", arguments: 0..<40)
    func noJobWaits(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let shares = (0..<3).map { UserShare(.user($0)) }
        let queue = PoolQueue(jobs: 12, jobsPerUser: 4, jobsPerQueue: 2) { connection, running in
            connection.share[.unread] == 0 || running == 0
        }
        let jobQueues = (0..<9).map { PoolQueue.JobQueue(UnreadAccount(shares[$0 % 3])) { $0() } }
        var (waiting, running) = ([Int](repeating: 0, count: 9), [Int](repeating: 0, count: 9))
        func add(_ number: Int) {
            waiting[number] += 1
            queue.run(in: jobQueues[number]) {
                waiting[number] -= 1
                running[number] += 1
            }
        }
        func check() {
            for user in 0..<3 {
                let own = (0..<9).filter { $0 % 3 == user }
                let most = shares[user][.unread] == 0 ? 4 : 1
                let started = own.reduce(0) { $0 + running[$1] }
                let mayStart = own.contains { waiting[$0] > 0 && running[$0] < 2 }
                #expect(!mayStart || started >= most, "user \(user): \(started) of \(most)")
            }
        }
        for _ in 0..<400 {
            let number = Int.random(in: 0..<9, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1: add(number)
            case 2:
                if running[number] > 0 {
                    running[number] -= 1
                    queue.finished(in: jobQueues[number])
                }
            default:
                let share = shares[number % 3]
                share.add(share[.unread] == 0 ? 1 : -1, to: .unread)
                queue.retry()
            }
            check()
        }
        while let number = running.firstIndex(where: { $0 > 0 }) {
            running[number] -= 1
            queue.finished(in: jobQueues[number])
            check()
        }
        #expect(queue.depth == 0)
        #expect(waiting.allSatisfy { $0 == 0 })
    }

    private func subject(_ name: String) throws -> PoolSubject { .data(try #require(SourceName(name))) }

    private func add(_ name: String, on subject: PoolSubject, _ jobQueue: PoolQueue.JobQueue, to queue: PoolQueue) {
        let record = record
        queue.run(in: jobQueue, on: subject) { record.started.append(name) }
    }

    @Test("a subject uses one thread, whatever its number of jobs")
    func aSubjectTakesOneThreadHoweverManyJobsItHas() throws {
        let queue = PoolQueue(jobs: 4, jobsPerUser: 4, jobsPerQueue: 4)
        let (a, b) = (try subject("a"), try subject("b"))
        let jobQueues = (0..<3).map { _ in jobQueue() }
        for (number, jobQueue) in jobQueues.enumerated() {
            for job in 0..<3 { add("a\(number).\(job)", on: a, jobQueue, to: queue) }
        }
        #expect(record.started == ["a0.0"])
        add("b", on: b, jobQueues[0], to: queue)
        add("free", jobQueues[2], to: queue)
        #expect(record.started == ["a0.0", "b", "free"])
        queue.finished(in: jobQueues[0], on: a)
        #expect(record.started.count == 4 && record.started[3].hasPrefix("a"))
        #expect(queue.depth == 7)
    }

    @Test("jobs of a subject keep their order, and all start eventually")
    func jobsOfASubjectKeepTheirOrderAndAllStartInTheEnd() throws {
        let queue = PoolQueue(jobs: 2, jobsPerUser: 2, jobsPerQueue: 2)
        let (a, jobQueues) = (try subject("a"), (0..<2).map { _ in jobQueue() })
        for job in 0..<3 {
            for (number, jobQueue) in jobQueues.enumerated() { add("\(number).\(job)", on: a, jobQueue, to: queue) }
        }
        for place in 0..<5 {
            #expect(record.started.count == place + 1)
            let number = try #require(Int(record.started[place].prefix(1)))
            queue.finished(in: jobQueues[number], on: a)
        }
        #expect(record.started.count == 6)
        #expect(queue.depth == 0)
        for number in 0..<2 {
            #expect(record.started.filter { $0.hasPrefix("\(number)") } == (0..<3).map { "\(number).\($0)" })
        }
    }

    @Test("a subject is released if its next connection is closed or held")
    func aSubjectIsFreeAgainForOthersIfItsNextConnectionHasGoneOrIsHeld() throws {
        let queue = PoolQueue(jobs: 4, jobsPerUser: 1, jobsPerQueue: 1)
        let a = try subject("a")
        let (first, gone, held, other) = (jobQueue(1), jobQueue(2), jobQueue(3), jobQueue(4))
        add("first", on: a, first, to: queue)
        for (name, jobQueue) in [("gone", gone), ("held", held), ("other", other)] {
            add(name, on: a, jobQueue, to: queue)
        }
        queue.clear(gone)
        queue.hold(held, true)
        queue.finished(in: first, on: a)
        #expect(record.started == ["first", "other"])
        queue.finished(in: other, on: a)
        queue.hold(held, false)
        #expect(record.started == ["first", "other", "held"])
    }
}
