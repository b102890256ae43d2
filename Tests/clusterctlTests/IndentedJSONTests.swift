// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import clusterctl

@Suite("JSON for people")
struct IndentedJSONTests {
    @Test("short values are on one line, others have one line per member, and the value is the same")
    func layout() throws {
        let long = String(repeating: "x", count: 90)
        let source =
            #"{"limits":{"sources":5,"none":{}},"empty":{},"list":[1,[2,"a"],[]],"sources":{"v":{"options":"#
            + #"{"sortKey":["id"]},"connection":"\#(long)"}},"words":["\#(long)","b"]}"#
        let value = try JSONReader.parse(source)
        let text = IndentedJSON.text(of: value)
        #expect(
            text == """
                {
                  "limits": {"sources": 5, "none": {}},
                  "empty": {},
                  "list": [1, [2, "a"], []],
                  "sources": {
                    "v": {
                      "options": {"sortKey": ["id"]},
                      "connection": "\(long)"
                    }
                  },
                  "words": [
                    "\(long)",
                    "b"
                  ]
                }
                """)
        #expect(try JSONReader.parse(text) == value)
        #expect(IndentedJSON.text(of: .object([:])) == "{}")
    }
}
