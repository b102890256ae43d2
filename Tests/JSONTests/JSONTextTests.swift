// SPDX-License-Identifier: MIT
import Glibc
import Testing

@testable import JSON

@Suite("Single values' text") struct JSONTextTests {
    private func number(_ text: String) -> Double? {
        var text = text
        return text.withUTF8 { JSONText.number(UnsafeRawBufferPointer($0)) }
    }

    @Test(
        "numbers are read to the last bit, with their sign",
        arguments: [
            "0", "-0", "0.0", "-0.0", "1", "-1", "500", "9.875", "-179.9999999", "84.1234567", "0.1", "-0.3",
            "123456789012345", "12345678901234.5", "0.00000000000001", "9007199254740993", "999999999999999",
            "1234567890123456", "0.123456789012345", "1e3", "-1.5E-7", "123456789.123456789",
            "3.14159265358979",
        ])
    func values(_ text: String) throws {
        let value = try #require(number(text))
        #expect(value.bitPattern == strtod(text, nil).bitPattern)
    }

    @Test("random short decimals are what the C library reads") func random() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let whole = Int.random(
                in: 0..<[1, 10, 181, 100_000, 1_000_000_000].randomElement(using: &random)!, using: &random)
            let fraction = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }.joined()
            let text = "\(Bool.random(using: &random) ? "-" : "")\(whole).\(fraction)"
            #expect(number(text)?.bitPattern == strtod(text, nil).bitPattern, "\(text)")
        }
    }

    @Test(
        "invalid numbers are rejected",
        arguments: [
            "", "-", ".", "1.", ".5", "-.5", "01", "-01.5", "00", "1.2.3", "1,2", "+1", "1 ", "0x1", "1e",
            "--1",
        ])
    func bad(_ text: String) {
        #expect(number(text) == nil)
    }

    @Test("short texts are numbers by the grammar and what the C library reads, or none") func shortTexts() throws {
        let grammar = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
        var random = SystemRandomNumberGenerator()
        var numbers = 0
        for round in 0..<60_000 {
            // Mostly digits, so that not nearly all are bad.
            let alphabet = Array(round % 2 == 0 ? "00123456789." : "0123456789.-+eE :/,")
            let text = String(
                (0..<Int.random(in: 1...9, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "0" })
            let isNumber = text.wholeMatch(of: grammar) != nil
            let value = strtod(text, nil)
            // Numbers have to be finite.
            let expected = isNumber && value.isFinite ? value : nil
            #expect(number(text)?.bitPattern == expected?.bitPattern, "\(text)")
            numbers += isNumber ? 1 : 0
        }
        #expect(numbers > 10_000)
    }

    @Test("strings of every length and content are scanned to their end") func strings() throws {
        for length in 0...40 {
            for special in ["", "\\\"", "\\\\", "\\u0022", "é"] {
                for place in 0...min(length, 20) {
                    let plain =
                        String(repeating: "a", count: place) + special + String(repeating: "b", count: length - place)
                    var text = "{\"\(plain)\" : \"\(plain)\",\"after\":\(length)}"
                    text.withUTF8 { bytes in
                        var members = JSONMembers(ofValidated: UnsafeRawBufferPointer(bytes))
                        let first = members.next()
                        #expect(first.map { String(decoding: $0.key, as: UTF8.self) } == plain)
                        #expect(first.map { String(decoding: $0.value, as: UTF8.self) } == "\"\(plain)\"")
                        #expect(members.next().map { String(decoding: $0.value, as: UTF8.self) } == "\(length)")
                        #expect(members.next() == nil)
                    }
                }
            }
        }
    }
}
