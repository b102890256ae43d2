// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Responses

@Suite("Abbreviated count") struct AbbreviatedCountTests {
    @Test(
        "abbreviates counts as supercluster does",
        arguments: [
            (2, "2"), (999, "999"), (1000, "\"1k\""), (1049, "\"1k\""), (1050, "\"1.1k\""),
            (1234, "\"1.2k\""),
            (9949, "\"9.9k\""), (9950, "\"10k\""), (9999, "\"10k\""), (10_000, "\"10k\""),
            (12_499, "\"12k\""),
            (12_500, "\"13k\""), (1_000_000, "\"1000k\""),
        ])
    func shortensAsSupercluster(_ count: Int, _ text: String) {
        var writer = ByteWriter()
        AbbreviatedCount.write(count, into: &writer)
        #expect(writer.string == text)
    }
}
