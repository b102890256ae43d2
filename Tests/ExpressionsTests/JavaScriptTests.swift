// SPDX-License-Identifier: MIT
import Foundation
import JSON
import Testing

@testable import Expressions

/// What a JavaScript engine made of random values, beside what this language makes of them.
@Suite struct JavaScriptTests {
    private static func cases() throws -> [JSONObject] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../Golden/javascript.jsonl")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
            guard case .object(let object) = try JSONReader.parse(String($0)) else { return nil }
            return object
        }
    }

    @Test func agreesWithJavaScript() throws {
        let cases = try Self.cases()
        #expect(cases.count == 740)
        for test in cases {
            guard let expression = test["expression"], case .object(let properties)? = test["properties"],
                let expected = test["result"]
            else {
                Issue.record("a case without its members")
                continue
            }
            let compiled = try Expression(compiling: expression, purpose: .evaluation)
            do {
                let value = try compiled.evaluate(properties: properties)
                #expect(value == expected, "\(expression.text) of \(JSONValue.object(properties).text)")
            } catch {
                #expect(expected == .object(["error": .string(error.message)]), "\(expression.text)")
            }
        }
    }
}
