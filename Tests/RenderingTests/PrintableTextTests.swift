// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Rendering

@Suite("Text that is safe on a terminal") struct PrintableTextTests {
    private static let hostile = "\u{1B}]0;title\u{7}\u{1B}[31m\u{9B}31m\u{202E}\u{2066}\u{2028}\u{7F}\0\u{8}"

    @Test("within a line, each character that controls a terminal becomes a space") func replaces() {
        #expect(PrintableText.of("a\u{1B}[31mb\r\nc\td") == "a [31mb  c d")
        #expect(PrintableText.of(Self.hostile) == " ]0;title  [31m 31m      ")
        #expect(PrintableText.of("שלום\u{200F} Zoë 東京 👩‍👧") == "שלום\u{200F} Zoë 東京 👩‍👧")
    }

    @Test("in a text of lines such characters are escaped, and lines and columns stay") func escapes() {
        #expect(PrintableText.escaped("id,name\r\n1,\u{1B}[2J\tx\n") == "id,name\n1,\\u001b[2J\tx\n")
        #expect(PrintableText.escaped("over\rwritten") == "over\\u000dwritten")
        #expect(PrintableText.escaped("\u{9B}\u{202E}\u{2069}") == "\\u009b\\u202e\\u2069")
    }

    @Test("escaped JSON means the same") func json() throws {
        let value = JSONValue.object(["na\u{202E}me": .string(Self.hostile), "list": .array([.number(1)])])
        let escaped = PrintableText.escaped(value.text)
        #expect(escaped.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) })
        #expect(try JSONReader.parse(escaped) == value)
    }
}
