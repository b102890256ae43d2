// SPDX-License-Identifier: MIT
import Clustering
import SystemSupport

/// A part of a zoom's tiles that is small enough to be written at once.
struct TileBatch: Sendable {
    let block: TileBlock
    let zoom: Int

    /// The numbers of the tiles that have features, ascending.
    func tileIDs(_ index: ClusterIndex) -> [UInt64] {
        var cells: [TileCell] = []
        index.occupiedTiles(in: block, at: zoom, into: &cells)
        var ids = cells.map { ArchiveTileID.of(z: zoom, x: $0.x, y: $0.y) }
        ids.sort()
        var last: UInt64?
        ids.removeAll { id in
            defer { last = id }
            return id == last
        }
        return ids
    }

    /// The approximate number of nodes in a batch. A single tile may have more.
    private static let mostNodes = 2048

    /// All batches of some zooms, in the order of their tiles in an archive.
    ///
    /// - Parameter cancellation: checked for each block that is looked at.
    static func all(
        _ index: ClusterIndex, zooms: ClosedRange<Int>, _ cancellation: Cancellation
    ) throws(ArchiveError) -> [TileBatch] {
        var batches: [TileBatch] = []
        for zoom in zooms {
            try append(
                TileBlock(zoom: 0, cell: TileCell(x: 0, y: 0)), zoom, of: index, to: &batches, cancellation)
        }
        return batches
    }

    private static func append(
        _ block: TileBlock, _ zoom: Int, of index: ClusterIndex, to batches: inout [TileBatch],
        _ cancellation: Cancellation
    ) throws(ArchiveError) {
        if cancellation.isCancelled { throw .cancelled }
        guard block.zoom < zoom, index.hasNodes(moreThan: mostNodes, in: block, at: zoom) else {
            return batches.append(TileBatch(block: block, zoom: zoom))
        }
        // The curve passes through a quarter's tiles before it enters the next.
        let quarters = block.quarters.map { quarter in
            let id = ArchiveTileID.of(z: quarter.zoom, x: quarter.cell.x, y: quarter.cell.y)
            return (id: id, block: quarter)
        }
        for quarter in quarters.sorted(by: { $0.id < $1.id }) {
            try append(quarter.block, zoom, of: index, to: &batches, cancellation)
        }
    }
}
