// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

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

    private init(title: String, rows: [(name: String, value: String)]) {
        self.title = title
        self.rows = rows
    }

    /// A marker's properties, one per line.
    init(of feature: Feature, _ projection: MapProjection) {
        title = MarkerName.of(feature)
        var rows: [(name: String, value: String)] = []
        if let id = feature.json["id"] { rows.append(("id", id.asString ?? id.text)) }
        rows.append(("position", MarkerName.position(feature, projection)))
        rows += feature.properties.members.map { ($0.key, $0.value.asString ?? $0.value.text) }
        self.rows = rows
    }

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
