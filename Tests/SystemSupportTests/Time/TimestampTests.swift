// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("Timestamp") struct TimestampTests {
    @Test(
        "gives RFC 3339",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_769_850_300_250, "2026-01-31T09:05:00.250Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func tellsRFC3339(_ milliseconds: Int64, _ text: String) {
        #expect(Timestamp(milliseconds: milliseconds).text == text)
    }
}
