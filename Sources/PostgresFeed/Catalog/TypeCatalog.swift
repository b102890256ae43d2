// SPDX-License-Identifier: MIT
import JSON

/// The types of a table's columns, with their component types.
struct TypeCatalog: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        fileprivate let json: JSONValue

        var name: String { json.text("name") }
        /// The kind of type: `b` base, `c` composite, `d` domain, `e` enum, `r` range.
        var kind: String { json.text("kind") }
        var base: UInt32 { json.oid("base") }
        var modifier: Int { json.integer("modifier") }
        var element: UInt32 { json.oid("element") }
        var delimiter: UInt8 { json.text("delimiter").utf8.first ?? UInt8(ascii: ",") }
        /// Whether a cast to text returns a text that differs from the output function's.
        var hasTextCast: Bool { json.flag("hasTextCast") }
        var fields: [(name: String, type: UInt32)] {
            json.list("fields").map { ($0.text("name"), $0.oid("type")) }
        }
    }

    private let entries: [UInt32: Entry]

    init(_ json: [JSONValue]) {
        entries = Dictionary(json.map { ($0.oid("oid"), Entry(json: $0)) }) { $1 }
    }

    /// A type's own name; for a domain, the name of the underlying type.
    func baseName(_ type: UInt32) -> String { entries[base(type)]?.name ?? "" }

    /// The type that underlies a domain, directly or through other domains.
    func base(_ type: UInt32) -> UInt32 { resolve(type, modifier: -1).type }

    /// The type that underlies domains, with its modifier, which is that of the last domain.
    func resolve(_ type: UInt32, modifier: Int) -> (type: UInt32, modifier: Int) {
        var (type, modifier) = (type, modifier)
        // Domains cannot contain themselves.
        while let entry = entries[type], entry.kind == "d", entry.base != 0 {
            (type, modifier) = (entry.base, modifier < 0 ? entry.modifier : modifier)
        }
        return (type, modifier)
    }

    /// Whether `::text` returns the text of the output function.
    func castsToOutput(_ type: UInt32) -> Bool { entries[base(type)]?.hasTextCast == false }

    /// How values of a type become JSON. Types that are not in the catalog become strings.
    func kind(of type: UInt32) -> ValueKind {
        let type = base(type)
        switch type {
        case 16: return .boolean
        case 20, 21, 23, 700, 701, 1700: return .number
        case 114, 3802: return .json
        case 1114: return .timestamp
        case 1184: return .zonedTimestamp
        default: break
        }
        guard let entry = entries[type] else { return .text }
        if entry.name == "int2vector" || entry.name == "oidvector" {
            return .vector(of: kind(of: entry.element))
        }
        if entry.element != 0 { return .array(of: kind(of: entry.element), delimiter: entry.delimiter) }
        if entry.kind == "c" { return .composite(fields(entry)) }
        return switch entry.name {
        case "hstore": .keyValues
        case "geometry": .geometry
        default: .text
        }
    }

    private func fields(_ entry: Entry) -> [ValueKind.Field] {
        entry.fields.enumerated().map { index, field in
            var name = ByteWriter()
            name.append(json: field.name)
            return (Array(field.name.utf8), ValueKind.Field(name: name.bytes, kind: kind(of: field.type), index: index))
        }.sorted { JSONBOrder.precedes($0.0, $1.0) }.map(\.1)
    }
}
