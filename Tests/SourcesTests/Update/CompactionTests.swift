// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import Testing

@testable import Answers
@testable import Sources

@Suite("Compaction")
struct CompactionTests {
    @Test("updates wait for at most one update's rows, whatever their number", arguments: [0, 3, 9, 20])
    func bounded(_ rounds: Int) throws {
        let (test, fresh) = (try TestSource(), try TestSource())
        try test.load(towns(6000))
        _ = try test.update(upsert: towns(1, from: 6000))
        var failure: (any Error)?
        var next = 0
        let most = test.source.compact { round in
            guard round < rounds else { return }
            // Six of 50 features each, all others than before: more than may be taken over in one turn.
            for _ in 0..<6 {
                next = (next + 50) % 5900
                do { _ = try test.update(upsert: towns(50, from: next + 1)) } catch { failure = error }
            }
        }
        #expect(failure == nil && test.registry.updateCounts.rebuilt == 0)
        #expect(test.source.revision.pointCount == 6001)
        #expect(most <= Source.placesInTurn)
        #expect(test.source.revision.isPlain == (rounds == 0))
        try fresh.load(towns(6001))
        #expect(try test.world(3).pointCounts.sorted() == fresh.world(3).pointCounts.sorted())
    }

    @Test("an import ends it")
    func replaced() throws {
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
        #expect(test.source.revision.isPlain && test.source.revision.pointCount == 8)
    }
}
