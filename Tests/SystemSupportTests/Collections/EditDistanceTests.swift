// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@Suite("Edit distance") struct EditDistanceTests {
    @Test(
        "counts insertions, deletions, replacements and swaps of neighbours",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("port", "port", 0), ("prot", "port", 1), ("citys", "cities", 2),
            ("kitten", "sitting", 3), ("é", "e", 1),
        ])
    func distance(_ a: String, _ b: String, _ expected: Int) {
        #expect(EditDistance.between(a, b) == expected)
        #expect(EditDistance.between(b, a) == expected)
    }
}
