// SPDX-License-Identifier: MIT
import Testing

@testable import Rendering

@Suite("Display width") struct DisplayWidthTests {
    @Test("widths of scripts differ") func widthsOfScriptsDiffer() {
        #expect(DisplayWidth.of("e\u{301}") == 1)
        #expect(DisplayWidth.of("東") == 2)
        #expect(DisplayWidth.truncate("東京都", to: 4) == "東…")
    }
}
