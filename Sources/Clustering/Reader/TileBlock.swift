// SPDX-License-Identifier: MIT

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
