// SPDX-License-Identifier: MIT
import Testing

@testable import GeoJSON

@Suite("Words for numbers that JSON does not have")
struct ForeignNumberTests {
    private func word(in text: String) -> String? {
        let bytes = Array(text.utf8)
        return ForeignNumber.find(in: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test(
        "the first one outside of strings is found",
        arguments: [
            (#"{"a":NaN}"#, "NaN"), ("[1,-Infinity,NaN]", "-Infinity"), ("[inf]", "inf"), ("nan", "nan"),
            (#"{"NaN":1,"b\"NaN":Infinity"#, "Infinity"), ("[1 ,\n -nan", "-nan"),
        ])
    func found(text: String, expected: String) { #expect(word(in: text) == expected) }

    @Test(
        "other words and strings are none",
        arguments: [
            "", "\"", "\"NaN", #"{"a":"NaN","b":"\\"}"#, #""\"#, "[nano, NaNs, 1e5, -1, inf2, --nan, -]",
            "[true,oops]", "é NaNé",
        ])
    func none(text: String) { #expect(word(in: text) == nil) }

    @Test("a message names the word, and its line only if it is known") func message() {
        var feature = InvalidFeature(index: 4, fault: .badJSON)
        feature.foreignNumber = ForeignNumber(word: "NaN", line: nil)
        #expect(feature.message == "Feature 4 has NaN, which is not JSON: write null instead.")
        feature.line = 7
        feature.foreignNumber = ForeignNumber(word: "-inf", line: 9)
        #expect(feature.message == "Feature 4 (line 7) has -inf at line 9, which is not JSON: write null instead.")
    }
}
