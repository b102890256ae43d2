// SPDX-License-Identifier: MIT
import JSON
import SourceEngine

extension Configuration {
    /// The configuration as a JSON Schema (2020-12), generated from the parser's table.
    public static var schema: JSONValue {
        var schema: JSONObject = [
            "$schema": .string("https://json-schema.org/draft/2020-12/schema"),
            "title": .string("clusterd.json"), "description": .string("The configuration of clusterd."),
        ]
        for (name, value) in ConfigurationKind.members(members.map(\.entry)).schema.members {
            schema[name] = value
        }
        return .object(schema)
    }

    /// A line of the manual about one member.
    public struct Documentation: Sendable {
        /// Such as `limits.maxCalls` or `sources.NAME.file`.
        public let path: String
        /// Such as `an integer from 1 up`.
        public let type: String
        public let help: String
        /// Whether a reload changes it.
        public let isLive: Bool
        /// The default as JSON; nil if there is none or the help describes it.
        public let standard: String?
    }

    /// All members, including those of nested objects, in the order of the table.
    public static var documentation: [Documentation] {
        members.map(\.entry).flatMap { describe($0, in: "") }
    }

    private static func describe(_ entry: ConfigurationEntry, in path: String) -> [Documentation] {
        let here = path + entry.name
        let line = Documentation(
            path: here, type: entry.kind.words, help: entry.help, isLive: entry.isLive, standard: entry.standard?.text)
        switch entry.kind {
        case .members(let inner), .either(_, .members(let inner)):
            return [line] + inner.flatMap { describe($0, in: "\(here).") }
        case .list(.members(let inner)): return [line] + inner.flatMap { describe($0, in: "\(here)[].") }
        case .table(let inner): return [line] + inner.flatMap { describe($0, in: "\(here).NAME.") }
        default: return [line]
        }
    }
}

extension ConfigurationKind {
    var schema: JSONObject {
        switch self {
        case .text: return ["type": .string("string"), "minLength": .number(1)]
        case .integer(let minimum):
            return ["type": .string("integer"), "minimum": .number(Double(minimum)), "maximum": .number(0x1p53)]
        case .boolean: return ["type": .string("boolean")]
        case .oneOf(let names): return ["enum": .array(names.map { .string($0) })]
        case .list(let inner): return ["type": .string("array"), "items": .object(inner.schema)]
        case .account:
            let account: JSONObject = [
                "type": .string("integer"), "minimum": .number(0), "maximum": .number(Double(UInt32.max - 1)),
            ]
            return ["anyOf": .array([.object(Self.text.schema), .object(account)])]
        case .either(let simple, let object):
            return ["anyOf": .array([.object(simple.schema), .object(object.schema)])]
        case .members(let entries): return Self.object(entries)
        case .table(let entries):
            return [
                "type": .string("object"), "propertyNames": .object(["pattern": .string("^\(SourceName.pattern)$")]),
                "additionalProperties": .object(Self.object(entries)),
            ]
        case .sourceOptions: return ["type": .string("object")]
        case .expression: return ["type": .array([.string("array"), .string("boolean")])]
        }
    }

    private static func object(_ entries: [ConfigurationEntry]) -> JSONObject {
        let properties = entries.map { entry in
            var schema: JSONObject = ["description": .string(entry.help)]
            for (name, value) in entry.kind.schema.members { schema[name] = value }
            if let standard = entry.standard { schema["default"] = standard }
            return (key: entry.name, value: JSONValue.object(schema))
        }
        var schema: JSONObject = [
            "type": .string("object"), "properties": .object(JSONObject(properties)),
            "additionalProperties": .bool(false),
        ]
        let required = entries.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        return schema
    }

    /// A description of the type.
    var words: String {
        switch self {
        case .text: "a string"
        case .integer(let minimum): "an integer from \(minimum) up"
        case .boolean: "true or false"
        case .oneOf(let names): names.map { "\"\($0)\"" }.joined(separator: " or ")
        case .list(.text): "an array of strings"
        case .list(.members): "an array of objects"
        case .list: "an array of names and numbers"
        case .account: "a name or a number"
        case .either: "a string or an object"
        case .members: "an object"
        case .table: "an object of objects by name"
        case .sourceOptions: "an object"
        case .expression: "an expression"
        }
    }
}
