// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Whether the tiles of a zoom within a block show more nodes than a limit, including margins.
    public func hasNodes(moreThan limit: Int, in block: TileBlock, at zoom: Int) -> Bool {
        var nodes: [Node] = []
        let level = level(for: Double(zoom))
        return tileRange(block, zoom).boxes.contains { box in collect(box, level, limit, &nodes) }
    }

    /// Appends the tiles of a zoom within a block for which `tileNodes` finds nodes: once for each node, in no
    /// particular order.
    ///
    /// - Parameter zoom: from the block's zoom to 30.
    /// - Complexity: O(nodes in the block).
    public func occupiedTiles(in block: TileBlock, at zoom: Int, into found: inout [TileCell]) {
        guard pointCount > 0 else { return }
        let range = tileRange(block, zoom)
        for box in range.boxes {
            visitNodes(in: box, at: level(for: Double(zoom))) { _, x, y in range.addTiles(of: x, y, to: &found) }
        }
    }

    private func tileRange(_ block: TileBlock, _ zoom: Int) -> TileRange {
        TileRange(block, at: zoom, margin: margin(at: zoom), isRound: options.projection.isRound)
    }
}

/// The tiles of one zoom that lie in a block. It determines which of them show a position, with the same
/// arithmetic as `tileNodes`.
private struct TileRange {
    let columns: Range<Int>
    let rows: Range<Int>
    /// The number of tiles along one axis at the zoom.
    let scale: Double
    let margin: Double
    /// Whether the world continues beyond its western and eastern edge.
    let isRound: Bool

    init(_ block: TileBlock, at zoom: Int, margin: Double, isRound: Bool) {
        let width = 1 << (zoom - block.zoom)
        columns = block.cell.x * width..<(block.cell.x + 1) * width
        rows = block.cell.y * width..<(block.cell.y + 1) * width
        scale = Double(sign: .plus, exponent: zoom, significand: 1)
        self.margin = margin
        self.isRound = isRound
    }

    /// The boxes that contain all positions that the tiles show: their own, and those across the antimeridian.
    var boxes: [UnitBox] {
        let top = (Double(rows.lowerBound) - margin) / scale
        let bottom = (Double(rows.upperBound) + margin) / scale
        func box(_ left: Double, _ right: Double) -> UnitBox {
            UnitBox(minimumX: left, minimumY: top, maximumX: right, maximumY: bottom)
        }
        let left = (Double(columns.lowerBound) - margin) / scale
        let right = (Double(columns.upperBound) + margin) / scale
        var boxes = [box(left, right)]
        guard isRound else { return boxes }
        // Positions in the first box must not be visited twice.
        if columns.lowerBound == 0, right < 1 { boxes.append(box(max(right.nextUp, 1 - margin / scale), 1)) }
        if Double(columns.upperBound) == scale, left > 0 {
            boxes.append(box(0, min(left.nextDown, margin / scale)))
        }
        return boxes
    }

    @inline(__always) func addTiles(of x: Double, _ y: Double, to found: inout [TileCell]) {
        for row in candidates(y, rows) where isInside(y, row) {
            for column in candidates(x, columns) where isInside(x, column) {
                found.append(TileCell(x: column, y: row))
            }
            guard isRound else { continue }
            // Positions across the antimeridian.
            if columns.lowerBound == 0, x >= 1 - margin / scale, x <= 1, !isInside(x, 0) {
                found.append(TileCell(x: 0, y: row))
            }
            let last = Int(scale) - 1
            if columns.upperBound == last + 1, x <= margin / scale, x >= 0, !isInside(x, last) {
                found.append(TileCell(x: last, y: row))
            }
        }
    }

    /// The columns or rows whose tiles may show a position.
    @inline(__always) private func candidates(_ position: Double, _ within: Range<Int>) -> Range<Int> {
        let center = position * scale
        // Clamped before conversion to integers, because the margin may be as large as any radius.
        let first = Int(max(Double(within.lowerBound), (center - 1 - margin).rounded(.down)))
        let last = Int(min(Double(within.upperBound - 1), (center + margin).rounded(.up)))
        return first <= last ? first..<last + 1 : 0..<0
    }

    @inline(__always) private func isInside(_ position: Double, _ tile: Int) -> Bool {
        position >= (Double(tile) - margin) / scale && position <= (Double(tile) + 1 + margin) / scale
    }
}

/// The tiles of a zoom that lie in one tile of the same or a lower zoom.
public struct TileBlock: Sendable, BitwiseCopyable {
    /// The zoom of the containing tile.
    public let zoom: Int
    public let cell: TileCell

    /// - Parameters:
    ///   - zoom: 0 to 30.
    ///   - cell: the containing tile's column and row at that zoom.
    public init(zoom: Int, cell: TileCell) {
        self.zoom = zoom
        self.cell = cell
    }

    /// The four quarters, one zoom deeper.
    public var quarters: [TileBlock] {
        [(0, 0), (1, 0), (0, 1), (1, 1)].map { column, row in
            TileBlock(zoom: zoom + 1, cell: TileCell(x: cell.x * 2 + column, y: cell.y * 2 + row))
        }
    }
}

/// A tile's column and row; the context determines the zoom.
public struct TileCell: Hashable, Sendable, BitwiseCopyable {
    public let x: Int
    public let y: Int

    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}
