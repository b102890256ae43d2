// SPDX-License-Identifier: MIT
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Recovery budget") struct RecoveryBudgetTests {
    /// Options whose updates cluster everything again, which takes memory.
    @Test(
        "acknowledged data are recovered even with a smaller budget",
        arguments: ["{}", #"{"minPoints":3}"#, StateTests.folding])
    func whatWasAcknowledgedComesBackThoughTheBudgetIsSmallerNow(_ options: String) throws {
        let kept = try KeptSources()
        let source = try kept.create(options: options)
        try source.load(towns(500))
        try source.change(upsert: towns(2, from: 1000))
        try source.change(remove: [8])
        let seen = kept.seen()
        kept.memory = MemoryBudget.Limit(bytes: 1000)
        try kept.restart()
        #expect(kept.seen() == seen)
        #expect(kept.reports.allSatisfy { $0.gravity != .error }, "\(kept.reports)")
        #expect(throws: SourceError.self) { try kept.source().load(towns(500)) }
        #expect(kept.seen() == seen)
    }
}
