// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import SourceEngine

@Suite("Features' ids") struct FeatureIdentifierTests {
    private func id(_ json: String) -> FeatureIdentifier? {
        Array(json.utf8).withUnsafeBytes { FeatureIdentifier(json: $0) }
    }

    @Test(
        "numbers are compared by their exact value, however they are written",
        arguments: [
            ("1", "1.0"), ("1000", "1e3"), ("-0", "0"), ("0.0e5", "0"), ("120e-1", "12"), ("1.5", "15e-1"),
            ("9007199254740993", "9007199254740993.0"), ("1e21", "1000000000000000000000"),
            ("-1e25", "-10000000000000000000000000"),
        ])
    func equal(_ a: String, _ b: String) {
        #expect(id(a) != nil)
        #expect(id(a) == id(b))
    }

    @Test(
        "integers that differ in their last digit differ, however long they are",
        arguments: [
            ("9007199254740992", "9007199254740993"), ("18446744073709551616", "18446744073709551617"),
            ("10000000000000000000000000", "10000000000000000000000001"), ("1", "\"1\""), ("1", "-1"),
        ])
    func different(_ a: String, _ b: String) {
        #expect(id(a) != nil)
        #expect(id(b) != nil)
        #expect(id(a) != id(b))
    }

    @Test(
        "a parsed number is the id of its shortest text",
        arguments: ["0", "-7", "1.25", "1e21", "1e-7", "123456789012"])
    func parsed(_ text: String) throws {
        #expect(try FeatureIdentifier(JSONReader.parse(text)) == id(text))
    }

    @Test(
        "what is neither a number nor a string is no id", arguments: ["null", "true", "[1]", "{}", "1x", "-", "1e", ""])
    func none(_ text: String) { #expect(id(text) == nil) }

    @Test("an id is written as JSON that reads as the same id", arguments: ["1e25", "-12.50", "\"a\\\"b\"", "\"7\""])
    func written(_ text: String) throws {
        let value = try #require(id(text))
        var writer = ByteWriter()
        value.write(into: &writer)
        #expect(id(String(decoding: writer.bytes, as: UTF8.self)) == value)
    }
}
