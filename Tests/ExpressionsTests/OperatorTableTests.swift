// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Expressions

@Suite("Operator table") struct OperatorTableTests {
    @Test("the documentation lists exactly the existing operators") func documentation() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../proto-docs/expressions.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "## Operators\n"))
        let paragraph = text[start.upperBound...].prefix { $0 != "\n" }
        let names = paragraph.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        let interpolations: Set = ["linear", "exponential", "cubic-bezier"]
        #expect(Set(names).subtracting(interpolations) == Set(OperatorTable.all.definitions.keys))
        #expect(names.count == Set(names).count)
    }

    @Test("no operator is both supported and excluded") func excluded() {
        #expect(OperatorTable.all.excluded.isDisjoint(with: OperatorTable.all.definitions.keys))
    }
}
