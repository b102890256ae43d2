// SPDX-License-Identifier: MIT
import Rendering

/// A table for people: a heading and aligned columns.
struct Table {
    enum Alignment { case left, right }

    struct Column {
        let title: String
        let alignment: Alignment
        /// Whether the column shrinks if the table is wider than the terminal.
        let isFlexible: Bool

        static func text(_ title: String) -> Column {
            Column(title: title, alignment: .left, isFlexible: false)
        }
        static func number(_ title: String) -> Column {
            Column(title: title, alignment: .right, isFlexible: false)
        }
        static func flexible(_ title: String) -> Column {
            Column(title: title, alignment: .left, isFlexible: true)
        }
    }

    let columns: [Column]
    private(set) var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row. Control characters become spaces, so that data cannot control the terminal.
    mutating func add(_ row: [String]) { rows.append(row.map(PrintableText.of)) }

    /// - Parameters:
    ///   - width: the terminal's columns; nil if rows are not cut.
    ///   - style: the style of the heading.
    func text(width: Int?, style: Style) -> String {
        let widths = columnWidths(width)
        var lines = [style.bold(line(columns.map(\.title), widths))]
        lines += rows.map { line($0, widths) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The same as CSV, with the headings in lower case.
    var csv: String {
        CSVText.row(columns.map { $0.title.lowercased() }) + rows.map(CSVText.row).joined()
    }

    private static let gap = 2

    private func columnWidths(_ available: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(DisplayWidth.of(columns[index].title)) { widest, row in
                max(widest, index < row.count ? DisplayWidth.of(row[index]) : 0)
            }
        }
        guard let available else { return widths }
        let total = widths.reduce(0, +) + Table.gap * (columns.count - 1)
        var excess = total - available
        for index in columns.indices.reversed() where excess > 0 && columns[index].isFlexible {
            let least = max(12, DisplayWidth.of(columns[index].title))
            let cut = min(excess, max(0, widths[index] - least))
            widths[index] -= cut
            excess -= cut
        }
        return widths
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (index, column) in columns.enumerated() {
            let cell = DisplayWidth.truncate(index < cells.count ? cells[index] : "", to: widths[index])
            let padding = String(repeating: " ", count: widths[index] - DisplayWidth.of(cell))
            if index > 0 { text += String(repeating: " ", count: Table.gap) }
            text += column.alignment == .right ? padding + cell : cell + padding
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}
