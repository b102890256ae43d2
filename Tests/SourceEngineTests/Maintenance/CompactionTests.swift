// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Compaction") struct CompactionTests {
    /// Compacts while updates of 50 features arrive, each of others than before.
    ///
    /// - Parameter updates: how many arrive before a round.
    /// - Returns: the most rows that were applied while updates had to wait, and the number of rounds.
    private func compact(_ updates: (_ round: Int) -> Int) throws -> (most: Int, rounds: Int) {
        let (test, fresh) = (try TestSource(), try TestSource())
        try test.load(towns(6000))
        _ = try test.update(upsert: towns(1, from: 6000))
        var failure: (any Error)?
        var (next, rounds, last) = (0, 0, 0)
        let most = test.source.compact { round in
            (rounds, last) = (round + 1, updates(round))
            for _ in 0..<last {
                next = (next + 50) % 5900
                do { _ = try test.update(upsert: towns(50, from: next + 1)) } catch { failure = error }
            }
        }
        #expect(failure == nil)
        #expect(test.registry.updateCounts.rebuilt == 0)
        #expect(test.source.revision.pointCount == 6001)
        #expect(test.source.revision.isPlain == (rounds == 1 && last == 0))
        try fresh.load(towns(6001))
        #expect(try test.world(3).pointCounts.sorted() == fresh.world(3).pointCounts.sorted())
        // The next one begins from what this one has made.
        test.source.compact()
        #expect(test.source.revision.isPlain)
        #expect(test.source.revision.pointCount == 6001)
        #expect(try test.world(3).pointCounts.sorted() == fresh.world(3).pointCounts.sorted())
        return (most, rounds)
    }

    @Test("updates wait for few rows once it has caught up, however many rounds that takes", arguments: [0, 1, 3, 9])
    func fewWhileLocked(_ rounds: Int) throws {
        // Each round has three fifths of the updates of the last.
        let outcome = try compact { round in round < rounds ? [20, 12, 7, 4, 2, 1, 0, 0, 0][round] : 0 }
        #expect(outcome.most <= Source.rowsWhileLocked)
        #expect(outcome.rounds == min(rounds, 6) + 1)
    }

    @Test("it ends although updates arrive as fast as they are applied, or faster", arguments: [1, 6, 20])
    func ends(_ updates: Int) throws {
        let outcome = try compact { round in round < 1000 ? updates : 0 }
        #expect(outcome.rounds < 20)
        // Twice what arrives in a round at most, so that it ends as soon as it can.
        #expect(outcome.most <= 2 * 50 * updates)
    }

    @Test("an import ends it") func replaced() throws {
        let test = try TestSource()
        try test.load(towns(100))
        _ = try test.update(upsert: towns(1))
        var failure: (any Error)?
        test.source.compact { round in
            guard round == 0 else { return }
            do { try test.load(towns(7)) } catch { failure = error }
        }
        #expect(failure == nil)
        #expect(test.source.revision.pointCount == 7)
        _ = try test.update(upsert: towns(1, from: 8))
        test.source.compact()
        #expect(test.source.revision.isPlain)
        #expect(test.source.revision.pointCount == 8)
    }
}
