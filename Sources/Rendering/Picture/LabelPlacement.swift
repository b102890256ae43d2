// SPDX-License-Identifier: MIT

/// Finds a position for a count in its circle, so that no circle covers it and no two counts overlap.
///
/// Circles are drawn from the largest to the smallest, so only smaller circles can cover one; all counts are drawn
/// above all circles. A count that has no free position in its circle is written where it overlaps least.
struct LabelPlacement {
    private let discs: [Disc]
    private var discCells = CellIndex()
    private var labelCells = CellIndex()
    private let area: PixelBox
    private var placed: [PixelBox] = []

    /// - Parameters:
    ///   - discs: the circles, in the order in which they are drawn.
    ///   - area: the visible area.
    init(discs: [Disc], in area: PixelBox) {
        self.discs = discs
        self.area = area
        for (number, disc) in discs.enumerated() {
            let side = disc.radius * 2
            discCells.insert(number, .around(disc.centre, width: side, height: side))
        }
    }

    /// Places a label in one of the discs and returns its middle.
    ///
    /// Place labels from the smallest circle to the largest, because the small ones have less room.
    mutating func place(width: Double, height: Double, in number: Int) -> PixelPoint {
        let disc = discs[number]
        var best = (cost: Double.infinity, box: PixelBox.around(disc.centre, width: width, height: height))
        for centre in Self.candidates(in: disc, width: width, height: height) {
            let box = PixelBox.around(centre, width: width, height: height)
            let cost = cost(of: box, in: number)
            if cost < best.cost { best = (cost, box) }
            if cost == 0 { break }
        }
        labelCells.insert(placed.count, best.box)
        placed.append(best.box)
        return best.box.centre
    }

    /// Candidate positions: the middle first, then positions around it as far as the label stays in the circle.
    private static func candidates(in disc: Disc, width: Double, height: Double) -> [PixelPoint] {
        var points = [disc.centre]
        let room = disc.radius - (width * width + height * height).squareRoot() / 2
        guard room > 1 else { return points }
        for part in [0.5, 1] {
            for (x, y) in directions {
                points.append(PixelPoint(x: disc.centre.x + x * room * part, y: disc.centre.y + y * room * part))
            }
        }
        return points
    }

    private static let diagonal = 0.5.squareRoot()
    private static let directions = [
        (0, -1), (0, 1), (-1, 0), (1, 0), (-diagonal, -diagonal), (diagonal, -diagonal), (-diagonal, diagonal),
        (diagonal, diagonal),
    ]

    /// The cost of a box: the number of labels and later circles that it meets; labels count more, and so
    /// does being cut off.
    private func cost(of box: PixelBox, in number: Int) -> Double {
        let covering = discCells.numbers(near: box).count { $0 > number && box.intersects(discs[$0]) }
        let overlapping = labelCells.numbers(near: box).count { placed[$0].intersects(box) }
        let isCut = box.left < area.left || box.right > area.right || box.top < area.top || box.bottom > area.bottom
        return Double(covering) + 10 * Double(overlapping) + (isCut ? 5 : 0)
    }
}

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
