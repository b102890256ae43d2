// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization
import Testing

@testable import ClusterClient

@Suite("Call inbox") struct CallInboxTests {
    @Test("a full inbox stops reading until a quarter is left") func pausesReadingWhileInboxIsFull() async throws {
        let announcements = Mutex(0)
        let gauge = InboxGauge { announcements.withLock { $0 += 1 } }
        let inbox = CallInbox(gauge: gauge)
        for number in 1...CallInbox.capacity {
            #expect(!gauge.anyIsFull)
            inbox.deliver(Answer(bytes: Array("\(number)".utf8)))
        }
        #expect(gauge.anyIsFull)
        for taken in 1...CallInbox.capacity * 3 / 4 {
            #expect(gauge.anyIsFull)
            #expect(try await inbox.next() == .item(Answer(bytes: Array("\(taken)".utf8))))
        }
        #expect(!gauge.anyIsFull)
        #expect(announcements.withLock { $0 } == 1)
    }

    @Test("large items fill it earlier") func largeItemsFillItEarlier() async throws {
        let gauge = InboxGauge {}
        let inbox = CallInbox(gauge: gauge)
        let large = Answer(bytes: [UInt8](repeating: 48, count: CallInbox.byteCapacity / 4))
        for _ in 0..<4 {
            #expect(!gauge.anyIsFull)
            inbox.deliver(large)
        }
        #expect(gauge.anyIsFull)
        for _ in 0..<3 { #expect(try await inbox.next() == .item(large)) }
        #expect(!gauge.anyIsFull)
    }

    @Test("a stream that stays ahead of its reader does not retain what was read")
    func releasesItemsThatWereRead() async throws {
        let inbox = CallInbox(gauge: InboxGauge {})
        inbox.deliver(Answer(bytes: [48]))
        for round in 0..<1000 {
            inbox.deliver(Answer(bytes: Array("\(round)".utf8)))
            _ = try await inbox.next()
            #expect(inbox.kept <= CallInbox.capacity + 2)
        }
    }

    @Test("discarding releases the room") func discardingGivesTheRoomBack() {
        let gauge = InboxGauge {}
        let inbox = CallInbox(gauge: gauge)
        for _ in 0..<CallInbox.capacity { inbox.deliver(Answer(bytes: [])) }
        inbox.discard()
        #expect(!gauge.anyIsFull)
    }

    @Test("an ended stream that is released with waiting items releases the room")
    func aReleasedInboxGivesTheRoomBack() {
        let announcements = Mutex(0)
        let gauge = InboxGauge { announcements.withLock { $0 += 1 } }
        do {
            let inbox = CallInbox(gauge: gauge)
            for _ in 0..<CallInbox.capacity { inbox.deliver(Answer(bytes: [])) }
            inbox.finish(.success(Answer(bytes: [])))
            #expect(gauge.anyIsFull)
        }
        #expect(!gauge.anyIsFull)
        #expect(announcements.withLock { $0 } == 1)
    }

    @Test("only the first outcome counts") func onlyTheFirstOutcomeCounts() async throws {
        let inbox = CallInbox(gauge: InboxGauge {})
        inbox.finish(.success(Answer(bytes: [49])))
        inbox.finish(.failure(RPCError(.unavailable, "late")))
        inbox.deliver(Answer(bytes: [50]))
        #expect(try await inbox.next() == .last(Answer(bytes: [49])))
        #expect(inbox.failure == nil)
    }
}
