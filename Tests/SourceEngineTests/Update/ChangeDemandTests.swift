// SPDX-License-Identifier: MIT
import SourceTestSupport
import SystemSupport
import Testing

@testable import SourceEngine

@Suite("What gives way to changes") struct ChangeDemandTests {
    @Test("sees a change that begins and one that lasts, but none that has ended")
    func looks() throws {
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(50))
        let before = source.demand.look()
        #expect(source.demand.look() == before)
        var during: [Int] = []
        #expect(throws: SourceError.cancelled) {
            _ = try source.change(.never) { (_) throws(SourceError) in
                during = (0..<3).map { _ in source.demand.look() }
                throw .cancelled
            }
        }
        #expect(during == [before + 2, before + 3, before + 4])
        let after = source.demand.look()
        #expect(after == before + 4 && source.demand.look() == after)
        try source.change(remove: [1])
        #expect(source.demand.look() > after)
    }
}
