// SPDX-License-Identifier: MIT

/// A picture made of characters: each contains two coloured dots, one above the other, or a character on top of them.
///
/// A dot has a ground, and a mark that covers it.
struct TerminalGrid {
    private struct Dot {
        var ground: Colour?
        var mark: Colour?

        var colour: Colour? { mark ?? ground }
    }

    private struct Cell {
        var upper = Dot()
        var lower = Dot()
        var character: Character?
        var ink: Colour?
        /// Whether the wide character before it extends into it.
        var isContinuation = false

        var isMarked: Bool { upper.mark != nil || lower.mark != nil }
    }

    let columns, rows: Int
    private var cells: [Cell]

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = Array(repeating: Cell(), count: columns * rows)
    }

    /// Colours the ground of a dot of the grid.
    mutating func setGround(column: Int, row: Int, _ colour: Colour) {
        let cell = row / 2 * columns + column
        if row % 2 == 0 { cells[cell].upper.ground = colour } else { cells[cell].lower.ground = colour }
    }

    /// Marks the dots whose middle is in a circle; positions are in dots.
    mutating func disc(_ centre: PixelPoint, radius: Double, colour: Colour) {
        for row in Self.span(centre.y, radius, limit: rows * 2) {
            for column in Self.span(centre.x, radius, limit: columns) {
                let (x, y) = (Double(column) + 0.5 - centre.x, Double(row) + 0.5 - centre.y)
                guard x * x + y * y <= radius * radius else { continue }
                let cell = row / 2 * columns + column
                if row % 2 == 0 { cells[cell].upper.mark = colour } else { cells[cell].lower.mark = colour }
                cells[cell].character = nil
            }
        }
    }

    /// The cells of a text whose middle is at a position in dots: the row, and the columns, which may be
    /// outside. Nil if no cell can be named.
    static func cells(of text: String, at centre: PixelPoint) -> (row: Int, columns: Range<Int>)? {
        let width = DisplayWidth.of(text)
        guard abs(centre.x) < 1e6, abs(centre.y) < 1e6,
            let row = Int(exactly: (centre.y / 2).rounded(.down)),
            let start = Int(exactly: (centre.x - Double(width) / 2).rounded())
        else { return nil }
        return (row, start..<start + width)
    }

    /// Writes a text with its middle at a position in dots, truncated at the edges.
    mutating func text(_ text: String, at centre: PixelPoint, ink: Colour) {
        guard let cells = Self.cells(of: text, at: centre) else { return }
        self.text(text, row: cells.row, column: cells.columns.lowerBound, ink: ink)
    }

    /// Writes characters of one column each, truncated at the edges.
    mutating func text(_ text: String, row: Int, column: Int, ink: Colour) {
        guard (0..<rows).contains(row) else { return }
        for (offset, character) in text.enumerated() where (0..<columns).contains(column + offset) {
            cells[row * columns + column + offset].character = character
            cells[row * columns + column + offset].ink = ink
        }
    }

    /// Writes a line of a panel, which covers whatever is below it.
    mutating func panel(_ line: String, row: Int, column: Int) {
        guard (0..<rows).contains(row) else { return }
        var position = column
        for character in line {
            let width = DisplayWidth.of(String(character))
            guard width > 0, (0..<columns).contains(position), position + width <= columns else { continue }
            var cell = Cell(character: character, ink: TerminalStyle.panelInk)
            (cell.upper.mark, cell.lower.mark) = (TerminalStyle.panel, TerminalStyle.panel)
            cells[row * columns + position] = cell
            if width == 2 { cells[row * columns + position + 1] = Cell(isContinuation: true) }
            position += width
        }
    }

    /// Whether these cells contain no mark, as far as they are in the grid.
    func isFree(row: Int, columns span: Range<Int>) -> Bool {
        guard (0..<rows).contains(row) else { return false }
        return span.clamped(to: 0..<columns).allSatisfy { !cells[row * columns + $0].isMarked }
    }

    /// The rows with a terminal's colour codes, each of which ends by resetting the colours.
    func lines(_ palette: TerminalPalette) -> [String] {
        (0..<rows).map { row in
            var line = ""
            var codes = ""
            for cell in cells[(row * columns)..<((row + 1) * columns)] where !cell.isContinuation {
                let (character, ink, paper) = palette == .none ? Self.plainLook(cell) : Self.look(cell)
                let needed = Self.codes(ink, paper, palette)
                if needed != codes { line += (codes.isEmpty ? "" : "\u{1B}[0m") + needed }
                codes = needed
                line.append(character)
            }
            return codes.isEmpty ? line : line + "\u{1B}[0m"
        }
    }

    private static func look(_ cell: Cell) -> (Character, ink: Colour?, paper: Colour?) {
        let (upper, lower) = (cell.upper.colour, cell.lower.colour)
        if let character = cell.character {
            return (character, cell.ink, cell.upper.mark ?? cell.lower.mark ?? upper ?? lower)
        }
        return switch (upper, lower) {
        case (nil, nil): (" ", nil, nil)
        case (let upper?, nil): ("▀", upper, nil)
        case (nil, let lower?): ("▄", lower, nil)
        case (let upper?, let lower?): upper == lower ? ("█", upper, nil) : ("▀", upper, lower)
        }
    }

    /// Without colours, the ground is drawn as a pattern.
    private static func plainLook(_ cell: Cell) -> (Character, ink: Colour?, paper: Colour?) {
        if let character = cell.character { return (character, nil, nil) }
        switch (cell.upper.mark != nil, cell.lower.mark != nil) {
        case (true, true): return ("█", nil, nil)
        case (true, false): return ("▀", nil, nil)
        case (false, true): return ("▄", nil, nil)
        case (false, false): return ((cell.upper.ground ?? cell.lower.ground) != nil ? "·" : " ", nil, nil)
        }
    }

    private static func codes(_ ink: Colour?, _ paper: Colour?, _ palette: TerminalPalette) -> String {
        (ink.map(palette.foreground) ?? "") + (paper.map(palette.background) ?? "")
    }

    private static func span(_ middle: Double, _ radius: Double, limit: Int) -> Range<Int> {
        let low = min(max((middle - radius).rounded(.down), 0), Double(limit))
        let high = min(max((middle + radius).rounded(.up), 0), Double(limit))
        guard let first = Int(exactly: low), let last = Int(exactly: high), first < last else { return 0..<0 }
        return first..<last
    }
}

/// The colours of a terminal's map other than those of its markers. They are dark enough for markers to stand
/// out, both on a dark and on a light terminal.
enum TerminalStyle {
    static let land = Colour(0x3E4A42)
    static let border = Colour(0x5A6A5E)
    static let graticule = Colour(0x6B7A86)
    static let label = Colour(0x9AA8B3)
    static let selection = Colour(0xFFFFFF)
    static let panel = Colour(0x1B2733)
    static let panelInk = Colour(0xE8EEF2)
}

/// The colours that a terminal can show: none, the 256 indexed ones, or 24 bits.
public enum TerminalPalette: Sendable {
    case none, indexed, full

    /// The code that sets the colour of letters.
    func foreground(_ colour: Colour) -> String { code(38, colour) }

    /// The code that sets the colour behind letters.
    func background(_ colour: Colour) -> String { code(48, colour) }

    private func code(_ kind: Int, _ colour: Colour) -> String {
        switch self {
        case .none: return ""
        case .full: return "\u{1B}[\(kind);2;\(colour.red);\(colour.green);\(colour.blue)m"
        case .indexed:
            // The colour cube with six steps per channel, which 256-colour terminals have from index 16 on.
            let steps = [colour.red, colour.green, colour.blue].map { (Int($0) * 5 + 127) / 255 }
            return "\u{1B}[\(kind);5;\(16 + steps[0] * 36 + steps[1] * 6 + steps[2])m"
        }
    }
}
