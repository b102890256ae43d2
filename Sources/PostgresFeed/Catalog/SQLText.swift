// SPDX-License-Identifier: MIT
import SystemSupport

/// Writes names and literals in SQL.
enum SQLName {
    /// A name in quotation marks, which is unambiguous whatever it contains.
    static func quote(_ name: String) -> String { "\"" + name.doubling("\"") + "\"" }

    /// A name as the server stores it: cut to 63 bytes, without parts of characters.
    static func stored(_ name: String) -> String {
        guard name.utf8.count > 63 else { return name }
        var stored = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= 63 else { break }
            stored.append(scalar)
        }
        return String(stored)
    }

    /// A name as a person writes it: in quotation marks only if it needs them.
    static func readable(_ name: String) -> String {
        guard isSimple(name), let first = name.utf8.first, first > UInt8(ascii: "9") else {
            return quote(name)
        }
        return reserved.contains(name) ? quote(name) : name
    }

    /// Whether a name has only lower-case letters, digits and underscores.
    static func isSimple(_ name: some StringProtocol) -> Bool {
        name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// A text as a literal, whatever `standard_conforming_strings` is.
    static func literal(_ text: String) -> String {
        let quoted = text.doubling("'")
        return quoted.unicodeScalars.contains("\\") ? "E'" + quoted.doubling("\\") + "'" : "'" + quoted + "'"
    }

    /// The parts of `a.b`, each of which may be in quotation marks. Unquoted names become lower case, as in SQL.
    static func split(_ text: String) -> [String] {
        var parts: [String] = []
        var part = ""
        var isQuoted = false
        var characters = Array(text)[...]
        while let character = characters.popFirst() {
            switch character {
            case "\"" where isQuoted && characters.first == "\"":
                part.append("\"")
                characters.removeFirst()
            case "\"": isQuoted.toggle()
            case "." where !isQuoted:
                parts.append(part)
                part = ""
            default: part += isQuoted ? String(character) : character.lowercased()
            }
        }
        return parts + [part]
    }

    /// Reserved words that are likely names of tables and columns.
    private static let reserved: Set<String> = [
        "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "both", "case", "cast", "check",
        "collate",
        "column", "constraint", "create", "default", "desc", "distinct", "do", "else", "end", "except",
        "false",
        "fetch", "for", "foreign", "from", "grant", "group", "having", "in", "initially", "intersect", "into",
        "lateral", "leading", "left", "like", "limit", "natural", "not", "null", "offset", "on", "only", "or",
        "order",
        "placing", "primary", "references", "returning", "right", "select", "some", "table", "then", "to",
        "trailing",
        "true", "union", "unique", "user", "using", "variadic", "when", "where", "window", "with",
    ]
}

/// The statement that copies a table's rows.
enum CopyStatement {
    /// A binary COPY of each column's text. Logical replication sends the same text, so both produce the same
    /// features. Only the geometry is binary: its text is the same bytes in hexadecimal.
    static func sql(
        _ layout: TableLayout, _ catalog: Catalog, _ configuration: TableFeedConfiguration, table: Catalog.Table,
        rowFilter: String?
    ) -> String {
        let columns = layout.columns.enumerated().map { index, column in
            if case .geometry = layout.position, index == 1 { return SQLName.quote(column.name) }
            return text(column, catalog.types)
        }.joined(separator: ", ")
        // Inheriting tables are published under their own names, partitions under the root's name.
        let only = table.kind == "p" ? "" : "ONLY "
        let condition = rowFilter.map { " WHERE \($0)" } ?? ""
        return
            "COPY (SELECT \(columns) FROM \(only)\(configuration.qualifiedTable)\(condition)) TO STDOUT (FORMAT binary)"
    }

    private static func text(_ column: TableLayout.Column, _ types: TypeCatalog) -> String {
        text(SQLName.quote(column.name), castsToOutput: types.castsToOutput(column.type))
    }

    /// - Parameters:
    ///   - name: SQL for the value.
    ///   - castsToOutput: whether a cast to text returns the same as the output function.
    static func text(_ name: String, castsToOutput: Bool) -> String {
        if castsToOutput { return name + "::pg_catalog.text" }
        // Types with their own cast to text may look different when cast. `format` uses the output function.
        return "CASE WHEN \(name) IS NOT NULL THEN pg_catalog.format('%s', \(name)) END"
    }
}
