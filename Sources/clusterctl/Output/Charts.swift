// SPDX-License-Identifier: MIT
import Glibc

/// A bar of block characters.
enum Bar {
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// - Parameters:
    ///   - share: of the width, from 0 to 1. A share above 0 shows something.
    ///   - width: the columns of a full bar.
    static func text(_ share: Double, width: Int) -> String {
        let share = max(0, min(1, share))
        var eighths = Int((share * Double(width * 8)).rounded())
        if share > 0 { eighths = max(1, eighths) }
        return String(repeating: "█", count: eighths / 8) + Self.eighths[eighths % 8]
    }
}

/// A grid as characters, two for each square.
enum GridPicture {
    struct Cell: Equatable {
        let x: Int
        let y: Int
        let count: Int
    }

    private static let shades = ["·", "░", "▒", "▓", "█"]
    /// More do not fit on a screen.
    private static let mostRows = 64

    /// The rows of the smallest box around all squares. Shades are by the logarithm of the count; nil if the box is
    /// wider than the terminal or higher than a screen.
    static func lines(_ cells: [Cell], width: Int) -> [String]? {
        let (left, right) = (cells.map(\.x).min() ?? 0, cells.map(\.x).max() ?? 0)
        let (top, bottom) = (cells.map(\.y).min() ?? 0, cells.map(\.y).max() ?? 0)
        guard (right - left + 1) * 2 <= width, bottom - top < mostRows else { return nil }
        let columns = [String](repeating: "  ", count: right - left + 1)
        var rows = [[String]](repeating: columns, count: bottom - top + 1)
        let most = log(Double(max(2, cells.map(\.count).max() ?? 2)))
        for cell in cells {
            let shade = Int((log(Double(max(1, cell.count))) / most * Double(shades.count - 1)).rounded())
            rows[cell.y - top][cell.x - left] = String(repeating: shades[min(shade, shades.count - 1)], count: 2)
        }
        return rows.map { row in
            var line = row.joined()
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
