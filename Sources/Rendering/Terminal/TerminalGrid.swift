// SPDX-License-Identifier: MIT

/// A picture of characters: each holds two coloured dots, one above the other, or a character on them.
struct TerminalGrid {
    private struct Cell {
        var upper: Colour?
        var lower: Colour?
        var character: Character?
        var ink: Colour?
    }

    let columns, rows: Int
    private var cells: [Cell]

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = Array(repeating: Cell(), count: columns * rows)
    }

    /// Colours the dots whose middle lies in a circle; places are in dots.
    mutating func disc(_ centre: PixelPoint, radius: Double, colour: Colour) {
        for row in Self.span(centre.y, radius, limit: rows * 2) {
            for column in Self.span(centre.x, radius, limit: columns) {
                let (x, y) = (Double(column) + 0.5 - centre.x, Double(row) + 0.5 - centre.y)
                guard x * x + y * y <= radius * radius else { continue }
                let place = row / 2 * columns + column
                if row % 2 == 0 { cells[place].upper = colour } else { cells[place].lower = colour }
                cells[place].character = nil
            }
        }
    }

    /// Writes a text with its middle at a place in dots, cut at the edges.
    mutating func text(_ text: String, at centre: PixelPoint, ink: Colour) {
        guard let row = Int(exactly: (centre.y / 2).rounded(.down)), (0..<rows).contains(row),
            let start = Int(exactly: (centre.x - Double(text.count) / 2).rounded())
        else { return }
        for (offset, character) in text.enumerated() where (0..<columns).contains(start + offset) {
            cells[row * columns + start + offset].character = character
            cells[row * columns + start + offset].ink = ink
        }
    }

    /// The rows with a terminal's codes for colours, each ending in the usual ones.
    func lines(_ palette: TerminalPalette) -> [String] {
        (0..<rows).map { row in
            var line = ""
            var codes = ""
            for cell in cells[(row * columns)..<((row + 1) * columns)] {
                let (character, ink, paper) = Self.look(cell)
                let wanted = Self.codes(ink, paper, palette)
                if wanted != codes { line += "\u{1B}[0m" + wanted }
                codes = wanted
                line.append(character)
            }
            return codes.isEmpty ? line : line + "\u{1B}[0m"
        }
    }

    private static func look(_ cell: Cell) -> (Character, ink: Colour?, paper: Colour?) {
        if let character = cell.character { return (character, cell.ink, cell.upper ?? cell.lower) }
        return switch (cell.upper, cell.lower) {
        case (nil, nil): (" ", nil, nil)
        case (let upper?, nil): ("▀", upper, nil)
        case (nil, let lower?): ("▄", lower, nil)
        case (let upper?, let lower?): upper == lower ? ("█", upper, nil) : ("▀", upper, lower)
        }
    }

    private static func codes(_ ink: Colour?, _ paper: Colour?, _ palette: TerminalPalette) -> String {
        let inkCode = ink.map { code(38, $0, palette) } ?? ""
        return inkCode + (paper.map { code(48, $0, palette) } ?? "")
    }

    private static func code(_ kind: Int, _ colour: Colour, _ palette: TerminalPalette) -> String {
        switch palette {
        case .none: return ""
        case .full: return "\u{1B}[\(kind);2;\(colour.red);\(colour.green);\(colour.blue)m"
        case .indexed:
            // The cube of six steps a channel that terminals of 256 colours have from 16 on.
            let steps = [colour.red, colour.green, colour.blue].map { (Int($0) * 5 + 127) / 255 }
            return "\u{1B}[\(kind);5;\(16 + steps[0] * 36 + steps[1] * 6 + steps[2])m"
        }
    }

    private static func span(_ middle: Double, _ radius: Double, limit: Int) -> Range<Int> {
        let low = min(max((middle - radius).rounded(.down), 0), Double(limit))
        let high = min(max((middle + radius).rounded(.up), 0), Double(limit))
        guard let first = Int(exactly: low), let last = Int(exactly: high), first < last else { return 0..<0 }
        return first..<last
    }
}
