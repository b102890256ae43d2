// SPDX-License-Identifier: MIT

/// Squares of a grid: tiles of one zoom.
public struct GridSquares: Sendable {
    /// The zoom whose tiles they are.
    public let zoom: Int
    /// Their columns: one range, or two with a gap between them.
    public let columns: [Range<Int>]
    public let rows: Range<Int>

    /// The deepest zoom of a grid. Columns and rows of it fit into 26 bits.
    public static let deepestZoom = 26

    /// The squares of a tile.
    ///
    /// - Parameters:
    ///   - block: the tile, at most `deepestZoom - depth` deep.
    ///   - depth: how many zooms below the tile's.
    public init(of block: TileBlock, depth: Int) {
        zoom = block.zoom + depth
        columns = [block.cell.x << depth..<(block.cell.x + 1) << depth]
        rows = block.cell.y << depth..<(block.cell.y + 1) << depth
    }

    /// The squares that a box touches; its edges are part of it.
    init(touching box: UnitBox, western: UnitBox?, zoom: Int) {
        self.zoom = zoom
        let scale = GridScale(zoom: zoom)
        func range(_ least: Double, _ greatest: Double) -> Range<Int> {
            // A box beside the world touches nothing.
            least <= greatest && least <= 1 && greatest >= 0 ? scale[least]..<scale[greatest] + 1 : 0..<0
        }
        rows = range(box.minimumY, box.maximumY)
        let eastern = range(box.minimumX, box.maximumX)
        let others = western.map { range($0.minimumX, $0.maximumX) } ?? 0..<0
        if others.isEmpty || eastern.isEmpty {
            columns = [eastern, others].filter { !$0.isEmpty }
        } else if others.upperBound >= eastern.lowerBound {
            columns = [others.lowerBound..<eastern.upperBound]
        } else {
            columns = [others, eastern]
        }
    }
}

/// The grid of a zoom's tiles. A position on an edge between two of them belongs to the eastern or southern one.
struct GridScale {
    let side: Double
    private let last: Int

    init(zoom: Int) {
        side = Double(sign: .plus, exponent: zoom, significand: 1)
        last = (1 << zoom) - 1
    }

    /// The column or row of a position in the unit square; that of the nearest edge for others.
    @inline(__always) subscript(position: Double) -> Int {
        let tile = position * side
        // Not-a-number is not above 0.
        guard tile > 0 else { return 0 }
        return tile < side ? Int(tile) : last
    }
}

/// A square with points.
public struct OccupiedSquare: Sendable, Equatable {
    public let x: Int
    public let y: Int
    public let pointCount: Int

    public init(x: Int, y: Int, pointCount: Int) {
        (self.x, self.y, self.pointCount) = (x, y, pointCount)
    }
}

extension ClusterIndex {
    /// The squares of a zoom that a box touches. `nodes` says what boxes mean.
    public func squares(touching box: CoordinateBox, zoom: Int) -> GridSquares {
        guard projection.isRound else {
            // Not rounded as `nodes` does, since squares have the points' exact positions.
            let exact = UnitBox(
                minimumX: projection.x(longitude: box.west), minimumY: projection.y(latitude: box.north),
                maximumX: projection.x(longitude: box.east), maximumY: projection.y(latitude: box.south))
            return GridSquares(touching: exact, western: nil, zoom: zoom)
        }
        let (eastern, western) = unitBoxes(west: box.west, south: box.south, east: box.east, north: box.north)
        return GridSquares(touching: eastern, western: western, zoom: zoom)
    }
}
