// SPDX-License-Identifier: MIT
import JSON

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
            path: here, type: entry.kind.words, help: entry.help, isLive: entry.isLive,
            standard: entry.standard?.text)
        switch entry.kind {
        case .members(let inner), .either(_, .members(let inner)):
            return [line] + inner.flatMap { describe($0, in: "\(here).") }
        case .table(let inner): return [line] + inner.flatMap { describe($0, in: "\(here).NAME.") }
        default: return [line]
        }
    }
}
