// SPDX-License-Identifier: MIT
import Testing

@testable import Calls

@Suite("Unread answers") struct UnreadBudgetTests {
    @Test("a user whose clients read does not wait for another user's unread answers")
    func sharesAreSeparate() {
        let budget = UnreadBudget(limit: 1000)
        let (greedy, honest) = (UserShare(.user(1)), UserShare(.user(2)))
        var claims = (0..<20).map { _ in UnreadBudget.Claim(100, of: greedy, in: budget) }
        #expect(budget.bytes == 2000 && budget.isSpent)
        #expect(budget.isSpent(for: greedy))
        #expect(!budget.isSpent(for: honest))
        // What has a part of its own has an end too.
        let part = UnreadBudget.Claim(300, of: honest, in: budget)
        #expect(budget.isSpent(for: honest))
        // Otherwise an optimized build may free them before.
        withExtendedLifetime(claims) {}
        claims.removeAll()
        #expect(!budget.isSpent(for: honest) && !budget.isSpent(for: greedy))
        #expect(budget.bytes == 300)
        withExtendedLifetime(part) {}
    }

    @Test("memory is returned to the system after each 64 MiB of freed params, and after the last of them")
    func memoryIsGivenBack() {
        let (load, share) = (ServerLoad(limits: Limits()), UserShare(.user(1)))
        load.input.add(33 * 6 << 20, of: share)
        func end(_ bytes: Int) -> Bool {
            load.input.add(-bytes, of: share)
            return load.hasFreedMuch(adding: bytes)
        }
        let given = (1...33).filter { _ in end(6 << 20) }
        #expect(given == [11, 22, 33])
        load.input.add(13 << 20, of: share)
        #expect(!end(4 << 20) && end(9 << 20))
        load.input.add(1000 << 19, of: share)
        #expect((1...1000).allSatisfy { _ in !end(1 << 19) })
    }

    @Test("a user's jobs start while those of a user with unread answers wait")
    func jobsStart() {
        let load = ServerLoad(limits: Limits())
        let (greedy, honest) = (UserShare(.user(1)), UserShare(.user(2)))
        let claim = UnreadBudget.Claim(Limits().maxQueuedBytes, of: greedy, in: load.unread)
        var started: [String] = []
        load.queries.run(in: PoolQueue.Lane(greedy) { $0() }) { started.append("greedy") }
        load.queries.run(in: PoolQueue.Lane(honest) { $0() }) { started.append("honest") }
        #expect(started == ["honest"])
        withExtendedLifetime(claim) {}
    }
}
