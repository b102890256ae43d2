// SPDX-License-Identifier: MIT
import Testing

@testable import RPC

@Suite("Whether a client goes on reading and sending")
struct ClientProgressTests {
    @Test("a client that reads nothing counts as stalled from the moment an answer waits")
    func stalled() {
        var progress = ClientProgress()
        progress.look(at: 10)
        #expect(progress.unreadFor(20) == 0)
        progress.look(unread: 100, taken: 50, inSystem: 200, at: 30)
        progress.look(unread: 120, taken: 50, inSystem: 200, at: 40)
        #expect(progress.unreadFor(50) == 20)
    }

    @Test("a client that drains the system's buffer is not stalled, even if the system accepts nothing") func slow() {
        var progress = ClientProgress()
        progress.look(unread: 100, taken: 50, inSystem: 200, at: 30)
        progress.look(unread: 100, taken: 50, inSystem: 160, at: 40)
        #expect(progress.unreadFor(50) == 10)
        progress.look(unread: 60, taken: 90, inSystem: 200, at: 60)
        #expect(progress.unreadFor(60) == 0)
        progress.look(unread: 0, taken: 150, at: 70)
        #expect(progress.unreadFor(90) == 0)
    }

    @Test("a limit may be any number of seconds") func limits() {
        var progress = ClientProgress()
        progress.look(unread: 1, unfinished: 1, at: 0)
        let second: UInt64 = 1_000_000_000
        #expect(!progress.hasLeftUnread(for: 30, at: 30 * second - 1))
        #expect(progress.hasLeftUnread(for: 30, at: 30 * second))
        #expect(!progress.hasLeftUnfinished(for: 60, at: 60 * second - 1))
        #expect(progress.hasLeftUnfinished(for: 60, at: 60 * second))
        #expect(!progress.hasLeftUnread(for: .max, at: 30 * second))
        #expect(!progress.hasLeftUnfinished(for: 1 << 53, at: 60 * second))
    }

    @Test("clients that hold the most for the longest time are closed first, and none within a second") func weights() {
        var progress = ClientProgress()
        progress.look(unread: 1, at: 0)
        let second: UInt64 = 1_000_000_000
        #expect(progress.stallWeight(of: 100, at: second - 1) == 0)
        #expect(progress.stallWeight(of: 100, at: 2 * second) > progress.stallWeight(of: 100, at: second))
        #expect(progress.stallWeight(of: 300, at: second) > progress.stallWeight(of: 100, at: 2 * second))
    }

    @Test("an incomplete message is late from its first byte on") func unfinished() {
        var progress = ClientProgress()
        progress.look(unfinished: 5, at: 10)
        progress.look(unfinished: 9, at: 20)
        #expect(progress.unfinishedFor(30) == 20)
        progress.look(unfinished: 3, messages: 1, at: 40)
        #expect(progress.unfinishedFor(50) == 10)
    }
}
