// SPDX-License-Identifier: MIT

/// Finds numbered boxes near a box, by the cells of a grid that they touch.
struct CellIndex {
    private struct Cell: Hashable {
        let column, row: Int
    }

    private var cells: [Cell: [Int]] = [:]

    /// The side of a cell in pixels: about the size of a large circle.
    private static let side = 64.0

    mutating func insert(_ number: Int, _ box: PixelBox) {
        for cell in Self.cells(of: box) { cells[cell, default: []].append(number) }
    }

    /// The numbers of boxes that share a cell with this one.
    func numbers(near box: PixelBox) -> Set<Int> {
        Set(Self.cells(of: box).flatMap { cells[$0] ?? [] })
    }

    private static func cells(of box: PixelBox) -> [Cell] {
        func span(_ low: Double, _ high: Double) -> ClosedRange<Int>? {
            guard let first = Int(exactly: (low / side).rounded(.down)),
                let last = Int(exactly: (high / side).rounded(.down)), first <= last, last - first < 1000
            else { return nil }
            return first...last
        }
        guard let columns = span(box.left, box.right), let rows = span(box.top, box.bottom) else { return [] }
        return rows.flatMap { row in columns.map { Cell(column: $0, row: row) } }
    }
}
