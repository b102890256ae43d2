// SPDX-License-Identifier: MIT
import ClusterProtocol
import SourceEngine
import Testing

@testable import RPC

@Suite("Each user's part of what all share") struct UserPartTests {
    private let greedy = UserShare(.user(1))
    private let honest = UserShare(.user(2))

    @Test("a user that holds few bytes of messages may add more, whatever others hold") func input() {
        let budget = InputBudget(.messages)
        budget.add(2000, of: greedy)
        budget.add(125, of: honest)
        #expect(budget.isExceeded(by: greedy, limit: 1000))
        #expect(!budget.isExceeded(by: honest, limit: 1000))
        budget.add(1, of: honest)
        #expect(budget.isExceeded(by: honest, limit: 1000))
        budget.add(-2000, of: greedy)
        #expect(!budget.isExceeded(by: honest, limit: 1000))
    }

    @Test("a user that watches few features may watch more, whatever others watch") func watches() throws {
        var limits = Limits()
        limits.maxWatchedFeatures = 1000
        let budget = WatchBudget(
            settings: LiveSettings(LiveSettings.Values(limits: limits, importDirectories: ImportDirectories([]))))
        try budget.change(from: 0, to: 1000, of: greedy)
        #expect(throws: RPCError.self) { try budget.change(from: 1000, to: 1001, of: greedy) }
        try budget.change(from: 0, to: 250, of: honest)
        #expect(throws: RPCError.self) { try budget.change(from: 250, to: 251, of: honest) }
        // What was refused is not counted.
        #expect(greedy[.watched] == 1000)
        #expect(honest[.watched] == 250)
    }
}
