// SPDX-License-Identifier: MIT
import Testing

@testable import SourceEngine

@Suite("Source name") struct SourceNameTests {
    @Test(
        "takes names of the pattern",
        arguments: ["a", "Z9", "0", "cities.2026-01_b", String(repeating: "x", count: 64)])
    func takesNamesOfThePattern(_ text: String) {
        #expect(SourceName(text)?.text == text)
    }

    @Test(
        "refuses others",
        arguments: [
            "", ".hidden", "-a", "_a", "a/b", "a b", "ä", "a\u{0}", String(repeating: "x", count: 65),
        ])
    func refusesOthers(_ text: String) {
        #expect(SourceName(text) == nil)
    }

    @Test("orders by bytes") func ordersByBytes() {
        let names = ["b", "a.", "a-", "A", "a"].compactMap { SourceName($0) }
        #expect(names.sorted().map(\.text) == ["A", "a", "a-", "a.", "b"])
    }
}
