// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@testable import RPC
@testable import Daemon

@Suite("Configuration schema") struct ConfigurationSchemaTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("proto-docs/clusterd.schema.json")

    @Test("the documented schema is generated from the parser's table")
    func theSchemaInTheDocumentsIsTheParsersOwn() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        #expect(text == Configuration.schema.indented() + "\n")
        #expect(try JSONReader.parse(text) == Configuration.schema)
    }

    private func accepts(_ value: JSONValue) -> Bool {
        var configuration = Configuration()
        do throws(Configuration.Problem) {
            try configuration.read(Array(value.text.utf8))
            return true
        } catch {
            // What no schema can know: whom the system has, what an address and what an expression is, and what files there are.
            let unknown = [
                "is not an address", "is not a host", "is not an origin", "is not an http", "names no url", ".options.",
                "matches nobody", "names no source", "unreadable keyFile",
            ]
            return unknown.contains { error.description.contains($0) }
        }
    }

    /// A value that a schema allows.
    private static func valid(_ schema: JSONValue) -> JSONValue {
        if let names = schema["enum"]?.array { return names.first ?? .null }
        switch schema["type"]?.string {
        case "array": return .array([valid(schema["items"] ?? true)])
        case "boolean": return true
        case "integer": return .number(schema["minimum"]?.number ?? 0)
        default: return "x"
        }
    }

    /// Walks all members of the schema, and asks the parser about values of each JSON type in each place.
    @Test("the parser accepts exactly what the schema allows")
    func theParserTakesWhatTheSchemaAllowsAndNothingElse() throws {
        var places = 0
        func walk(_ schema: JSONValue, _ wrap: (JSONValue) -> JSONValue) throws {
            places += 1
            // An expression may be any value.
            guard schema["type"]?.string != nil || schema["enum"] != nil || schema["anyOf"] != nil else { return }
            for sample in samples {
                #expect(
                    accepts(wrap(sample)) == Self.matches(sample, schema),
                    "\(wrap(sample).text) against \(schema.text.prefix(200))")
            }
            for (name, inner) in schema["properties"]?.object?.members ?? [] {
                let others = (schema["required"]?.array ?? []).compactMap(\.string).filter { $0 != name }
                try walk(inner) { value in
                    var object = JSONObject([(key: name, value: value)])
                    for other in others { object[other] = Self.valid(schema["properties"]?[other] ?? true) }
                    // A rule has to match somebody.
                    if name != "tokens", schema["properties"]?["tokens"]?["type"] == "boolean" {
                        object["tokens"] = true
                    }
                    return wrap(.object(object))
                }
            }
            if let inner = schema["additionalProperties"], inner.object != nil {
                try walk(inner) { wrap(.object(JSONObject([(key: "some-name", value: $0)]))) }
            }
            if let inner = schema["items"] { try walk(inner) { wrap([$0]) } }
        }
        try walk(Configuration.schema) { $0 }
        #expect(places > 50)
    }

    private let samples: [JSONValue] = [
        .null, true, false, 0, 1, -1, 1.5, 12345, 4_294_967_295, 1e17, "", "root", "info", "json", "skip", [],
        ["root"], [1], [1.5], [true],
        [""], [[]], [:], ["unknown": 1], ["options": [:]],
    ]

    /// As much of JSON Schema as this schema uses.
    private static func matches(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        if let options = schema["anyOf"]?.array { return options.contains { matches(value, $0) } }
        if let names = schema["enum"]?.array { return names.contains(value) }
        switch (schema["type"]?.string, value) {
        case ("string", .string(let text)): return Double(text.count) >= schema["minLength"]?.number ?? 0
        case ("integer", .number(let number)):
            return number == number.rounded() && number >= schema["minimum"]?.number ?? -.infinity
                && number <= schema["maximum"]?.number ?? .infinity
        case ("boolean", .bool): return true
        case ("array", .array(let values)):
            return values.allSatisfy { matches($0, schema["items"] ?? true) }
        case ("object", .object(let object)):
            let required = (schema["required"]?.array ?? []).compactMap(\.string)
            guard required.allSatisfy({ object[$0] != nil }) else { return false }
            return object.members.allSatisfy { member in
                if let inner = schema["properties"]?[member.key] { return matches(member.value, inner) }
                switch schema["additionalProperties"] {
                case .bool(let allowed)?: return allowed
                case let inner?: return matches(member.value, inner)
                case nil: return true
                }
            }
        default: return false
        }
    }
}

@Suite("Configuration document") struct ConfigurationDocumentTests {
    private static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("proto-docs/configuration.md")

    @Test("the documented example is valid") func theExampleIsGood() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        let example = try #require(text.components(separatedBy: "```json\n").dropFirst().first)
        let json = try #require(example.components(separatedBy: "```").first)
        var configuration = Configuration()
        try configuration.read(Array(json.utf8))
        #expect(configuration.sources.first?.options == ["radius": 60])
        #expect(configuration.membersFixedBut(changedIn: Configuration()) == ["socket", "state", "http.listen"])
    }

    @Test("every member is in the manual") func everyMemberIsInTheManual() {
        let paths = Set(Configuration.documentation.map(\.path))
        for path in ["socket", "limits.memoryBytes", "access.query.users", "sources.NAME.file", "log.slowCallMs"] {
            #expect(paths.contains(path))
        }
        #expect(Configuration.documentation.allSatisfy { $0.help.hasSuffix(".") })
    }
}
