// SPDX-License-Identifier: MIT
import Glibc

/// Makes source names from names of files and tables.
enum SourceNames {
    private static let endings =
        ["gz", "geojson", "json", "geojsonl", "geojsons", "geojsonseq", "ndjson", "jsonl", "csv", "tsv"]
        + ForeignFile.endings
    private static let longest = 64

    /// Whether an operand is a file rather than a source. Source names contain no slash.
    static func isFile(_ name: String) -> Bool {
        name.contains("/") || name.contains(".") && access(name, R_OK) == 0
    }

    /// A unique name for each path: the file's name without its extensions, with `-` for characters that a
    /// source's name cannot contain.
    static func of(_ paths: [String]) -> [String] {
        var names: [String] = []
        for path in paths {
            let name = name(of: path)
            let taken = Set(names)
            let free = [name] + (2...(paths.count + 1)).map { String(name.prefix(longest - 6)) + "-\($0)" }
            names.append(free.first { !taken.contains($0) } ?? name)
        }
        return names
    }

    private static func name(of path: String) -> String {
        if path == "-" { return "input" }
        let path = RemoteFile(path)?.name ?? path
        var parts = (path.split(separator: "/").last ?? "").split(
            separator: ".", omittingEmptySubsequences: false)
        while parts.count > 1, let last = parts.last, endings.contains(last.lowercased()) {
            parts.removeLast()
        }
        return allowed(parts.joined(separator: "."))
    }

    /// The name for a table of PostgreSQL.
    static func of(table: String) -> String { allowed(table) }

    /// The text with `-` for characters that a source's name cannot contain.
    private static func allowed(_ text: String) -> String {
        var name = ""
        for character in text {
            let isAllowed = character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
            if isAllowed { name.append(character) } else if name.last != "-" { name.append("-") }
        }
        while name.last == "-" { name.removeLast() }
        let start = name.drop { !$0.isLetter && !$0.isNumber }
        return start.isEmpty ? "source" : String(start.prefix(longest))
    }
}
