// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("Times in UTC")
struct UTCTimeTests {
    @Test("follow a pattern, in English")
    func patterns() {
        #expect(UTCTime.text(784_111_777, "%a, %d %b %Y %H:%M:%S GMT") == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(UTCTime.text(-1, "%Y-%m-%d") == "1969-12-31")
    }

    @Test("that do not fit are empty") func empty() {
        #expect(UTCTime.text(.max, "%Y").isEmpty)
        #expect(UTCTime.text(0, String(repeating: "%A", count: 40)).isEmpty)
    }
}
