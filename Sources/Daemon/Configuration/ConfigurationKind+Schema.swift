// SPDX-License-Identifier: MIT
import JSON
import SourceEngine

extension ConfigurationKind {
    var schema: JSONObject {
        switch self {
        case .text: return ["type": .string("string"), "minLength": .number(1)]
        case .integer(let minimum):
            return [
                "type": .string("integer"), "minimum": .number(Double(minimum)), "maximum": .number(0x1p53),
            ]
        case .boolean: return ["type": .string("boolean")]
        case .oneOf(let names): return ["enum": .array(names.map { .string($0) })]
        case .list(let inner): return ["type": .string("array"), "items": .object(inner.schema)]
        case .account:
            let account: JSONObject = [
                "type": .string("integer"), "minimum": .number(0), "maximum": .number(Double(UInt32.max - 1)),
            ]
            return [
                "anyOf": .array([.object(Self.text.schema), .object(account)])
            ]
        case .either(let simple, let object):
            return ["anyOf": .array([.object(simple.schema), .object(object.schema)])]
        case .members(let entries): return Self.object(entries)
        case .table(let entries):
            return [
                "type": .string("object"),
                "propertyNames": .object(["pattern": .string("^\(SourceName.pattern)$")]),
                "additionalProperties": .object(Self.object(entries)),
            ]
        case .sourceOptions: return ["type": .string("object")]
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
        case .list: "an array of names and numbers"
        case .account: "a name or a number"
        case .either: "a string or an object"
        case .members: "an object"
        case .table: "an object of objects by name"
        case .sourceOptions: "an object"
        }
    }
}
