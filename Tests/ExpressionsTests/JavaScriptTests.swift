// SPDX-License-Identifier: MIT
import Foundation
import JSON
import Testing

@testable import Expressions

/// What a JavaScript engine made of random values, beside what this language makes of them.
@Suite("JavaScript") struct JavaScriptTests {
    private static func cases(_ name: String) throws -> [JSONObject] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/\(name)")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
            guard case .object(let object) = try JSONReader.parse(String($0)) else { return nil }
            return object
        }
    }

    @Test(
        "values are converted as in JavaScript", arguments: [("javascript.jsonl", 740), ("number-format.jsonl", 750)])
    func agreesWithJavaScript(_ file: String, _ count: Int) throws {
        let cases = try Self.cases(file)
        #expect(cases.count == count)
        for test in cases {
            guard let expression = test["expression"], case .object(let properties)? = test["properties"],
                let expected = test["result"]
            else {
                Issue.record("a case without its members")
                continue
            }
            let compiled = try Expression(compiling: expression, purpose: .evaluation)
            compare(compiled, properties, expected, expression.text)
        }
    }

    @Test("random expressions have the values of an evaluator in JavaScript") func agreesWithEvaluator() throws {
        let cases = try Self.cases("evaluator.jsonl")
        #expect(cases.count == 3000)
        var rejected = 0
        for test in cases {
            guard let expression = test["expression"], case .object(let properties)? = test["properties"],
                let expected = test["result"]
            else {
                Issue.record("a case without its members")
                continue
            }
            // A constant part that fails is an error of compilation here, even if the feature does not need
            // it.
            guard let compiled = try? Expression(compiling: expression, purpose: .evaluation) else {
                rejected += 1
                continue
            }
            compare(compiled, properties, expected, expression.text)
        }
        #expect(rejected < 60)
    }

    private func compare(
        _ expression: Expressions.Expression, _ properties: JSONObject, _ expected: JSONValue, _ text: String
    ) {
        do {
            let value = try expression.evaluate(properties: properties)
            #expect(value == expected, "\(text) of \(JSONValue.object(properties).text)")
        } catch {
            #expect(expected == .object(["error": .string(error.message)]), "\(text)")
        }
    }
}
