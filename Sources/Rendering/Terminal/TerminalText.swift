// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// Determines how many columns of a terminal a text occupies: wide East Asian letters and emoji two,
/// combining marks none.
public enum DisplayWidth {
    public static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    /// The text truncated to at most `width` columns, with an ellipsis if something was cut off.
    public static func truncate(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 1 else { return width == 1 ? "…" : "" }
        var cut = ""
        var used = 1
        for character in text {
            let more = self.width(of: character)
            guard used + more <= width else { break }
            cut.append(character)
            used += more
        }
        return cut + "…"
    }

    private static func width(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: return 0
        case 0x20..<0x7F: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: return 0
            default: return 1
            }
        }
    }
}

/// Makes text safe to print on a terminal: data can neither control it nor change the order of what it shows.
public enum PrintableText {
    /// The text with a space in place of each control character, line ends included. For a text within a line.
    public static func of(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// The text with control characters escaped as in JSON (`\u001b`), so that JSON keeps its meaning. Line
    /// feeds and tabs stay; a carriage return before a line feed is left out.
    public static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isEscaped) else { return text }
        var escaped = ""
        var scalars = text.unicodeScalars.makeIterator()
        var next = scalars.next()
        while let scalar = next {
            next = scalars.next()
            if !isEscaped(scalar) {
                escaped.unicodeScalars.append(scalar)
            } else if scalar != "\r" || next != "\n" {
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }

    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        isControl(scalar) && scalar != "\n" && scalar != "\t"
    }

    /// Control characters (C0, DEL, C1), line and paragraph separators, and the embeddings, overrides and isolates of
    /// bidirectional text (Unicode Standard Annex 9), which can make a line read as something else.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// A box of text over a terminal's map.
struct TerminalPanel {
    let title: String
    let rows: [(name: String, value: String)]

    static let help = TerminalPanel(
        title: "Keys",
        rows: [
            ("arrows h j k l", "move the map"), ("+  -", "zoom in, zoom out"),
            ("tab", "select the next marker"),
            ("shift-tab", "select the previous marker"),
            ("enter", "cluster: zoom in until it splits"), ("", "point: show its properties"),
            ("0", "show the whole source"), ("?", "show this help"), ("q", "quit"),
            ("", ""), ("circles", "clusters; white: selected"), ("●", "a single point"),
        ])

    /// Draws the box in the middle, clipped to the grid.
    func draw(on grid: inout TerminalGrid) {
        let names = rows.map { DisplayWidth.of($0.name) }.max() ?? 0
        let room = grid.columns - 4
        var texts = rows.map { row in
            row.name + String(repeating: " ", count: names - DisplayWidth.of(row.name) + 2) + row.value
        }
        texts = texts.map { DisplayWidth.truncate(PrintableText.of($0), to: room) }
        let heading = DisplayWidth.truncate(PrintableText.of(title), to: room)
        let most = max(0, grid.rows - 3)
        if texts.count > most { texts = Array(texts.prefix(max(0, most - 1))) + ["… \(rows.count) in all"] }
        let width = ([heading] + texts).map(DisplayWidth.of).max() ?? 0
        let lines =
            ["┌─" + heading + String(repeating: "─", count: width - DisplayWidth.of(heading)) + "─┐"]
            + texts.map { "│ " + $0 + String(repeating: " ", count: width - DisplayWidth.of($0)) + " │" }
            + ["└─" + String(repeating: "─", count: width) + "─┘"]
        let top = max(0, (grid.rows - lines.count) / 2)
        let left = max(0, (grid.columns - width - 4) / 2)
        for (index, line) in lines.enumerated() { grid.panel(line, row: top + index, column: left) }
    }
}

extension TerminalPanel {
    /// A marker's properties, one per line.
    init(of feature: Feature, _ projection: MapProjection) {
        var rows: [(name: String, value: String)] = []
        if let id = feature.json["id"] { rows.append(("id", id.asString ?? id.text)) }
        rows.append(("position", MarkerName.position(feature, projection)))
        rows += feature.properties.members.map { ($0.key, $0.value.asString ?? $0.value.text) }
        self.init(title: MarkerName.of(feature), rows: rows)
    }
}
