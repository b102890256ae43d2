// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// `EvaluateExpression` as another program calls it: the specification's own cases, and what the contract says
/// of the params.
@Suite("Expressions over the socket") struct EvaluationSocketTests {
    let client: RawClient
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        client = try daemon.client()
    }

    private static func cases() throws -> [JSONObject] {
        let file = Repository.root.appending(path: "Tests/Data/expressions.jsonl")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
            try JSONReader.parse(String($0)).object
        }
    }

    private func evaluate(_ params: JSONObject) throws -> JSONObject {
        try client.exchange("SourceService/EvaluateExpression", .object(params))
    }

    /// The type that a case expects of the whole, as the call takes it.
    private func type(_ spec: JSONValue?) -> JSONValue? {
        guard let name = spec?["type"]?.string, name == "array" else { return spec?["type"] }
        guard let item = spec?["value"]?.string else { return "array" }
        guard let length = spec?["length"]?.number else { return .string("array<\(item)>") }
        return .string("array<\(item), \(Int(length))>")
    }

    @Test("answers the specification's cases, each with its original input") func specification() throws {
        for test in try Self.cases() {
            var params: JSONObject = ["expression": test["expression"] ?? .null]
            if let type = type(test["propertySpec"]) { params["type"] = type }
            let faults = test["compiled"]?["errors"]?.array
            let inputs = faults == nil ? test["inputs"]?.array ?? [] : [["feature": [:], "zoom": nil]]
            for (place, input) in inputs.enumerated() {
                params["feature"] = input["feature"] ?? [:]
                params["zoom"] = input["zoom"] ?? .null
                let answer = try evaluate(params)
                let expected = test["outputs"]?.array.map { $0[place] } ?? .null
                if let faults {
                    expectFaults(answer["error"], faults)
                } else if let message = expected["error"]?.string {
                    let error = RawClient.status(answer["error"])
                    #expect(error.status == "FAILED_PRECONDITION")
                    #expect(message.hasSuffix(": \(error.message)"))
                } else {
                    expectValue(answer["result"]?["value"], expected, test)
                }
            }
        }
    }

    private func expectFaults(_ error: JSONValue?, _ faults: [JSONValue]) {
        #expect(error?["status"] == "INVALID_ARGUMENT")
        let expected = faults.map { fault -> JSONValue in
            ["key": fault["key"] ?? .null, "message": fault["error"] ?? .null]
        }
        #expect(error?["details"]?["errors"] == .array(expected))
    }

    private func expectValue(_ value: JSONValue?, _ expected: JSONValue, _ test: JSONObject) {
        if let number = value?.number, let other = expected.number {
            #expect(abs(number - other) <= 1e-5 * max(abs(number), abs(other)))
        } else {
            #expect(value == expected, "\(test["name"]?.string ?? "")")
        }
    }

    @Test("unknown members may be omitted or null, but not of another type") func params() throws {
        #expect(try evaluate(["expression": ["zoom"], "zoom": 3])["result"] == ["value": 3])
        let nothing: JSONObject = ["expression": 1, "feature": .null, "type": .null]
        #expect(try evaluate(nothing)["result"] == ["value": 1])
        for params: JSONObject in [["expression": ["zoom"]], ["expression": ["zoom"], "zoom": .null]] {
            #expect(RawClient.status(try evaluate(params)["error"]).status == "FAILED_PRECONDITION")
        }
        for params: JSONObject in [
            [:], ["expression": 1, "zoom": "3"], ["expression": 1, "feature": []],
            ["expression": 1, "type": "colour"], ["expression": 1, "more": 2],
        ] {
            #expect(RawClient.status(try evaluate(params)["error"]).status == "INVALID_ARGUMENT")
        }
    }
}
