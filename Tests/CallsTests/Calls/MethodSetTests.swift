// SPDX-License-Identifier: MIT
import ClusterProtocol
import SourceTestSupport
import Testing

@testable import Calls

@Suite("Served methods") struct MethodSetTests {
    @Test("the served methods are those that are declared, and the one behind tiles.json")
    func complete() throws {
        let answers = KeptAnswers()
        let caller = try Caller(on: TestSource(), loop: HandLoop(), answers: answers)
        let served = caller.engine.methods.all.map(\.declaration.name)
        #expect(Set(served).count == served.count)
        #expect(Set(served) == Set(MethodDeclaration.all.map(\.name) + ["DescribeTiles"]))
    }
}
