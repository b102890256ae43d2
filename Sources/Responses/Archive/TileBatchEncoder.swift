// SPDX-License-Identifier: MIT
import Clustering
import Compression
import JSON
import SourceEngine
import SystemSupport
import TileCompression

/// Encodes and compresses the tiles of a view.
struct TileBatchEncoder: Sendable {
    let revision: Revision
    let view: View
    let request: ArchiveRequest
    let cancellation: Cancellation

    func encode(_ batch: TileBatch) throws(ArchiveError) -> EncodedBatch {
        var result = EncodedBatch()
        var tile = ByteWriter(capacity: 1 << 14)
        var compressor = try Self.compressor()
        for id in batch.tileIDs(view.index) {
            if cancellation.isCancelled { throw .cancelled }
            let cell = ArchiveTileID.cell(of: id, z: batch.zoom)
            guard let address = TileAddress(z: batch.zoom, x: cell.x, y: cell.y) else { continue }
            tile.truncate(to: 0)
            do throws(SourceError) {
                try revision.appendVectorTile(
                    address, of: view, layer: request.layer, output: request.output, into: &tile, cancellation)
            } catch { throw ArchiveError(error) }
            let start = result.bytes.count
            try append(tile, to: &result.bytes, &compressor)
            result.ids.append(id)
            result.ends.append(result.bytes.count)
            let hash = Self.key.hash(result.bytes.span.bytes.extracting(start...))
            result.hashes.append(Int(truncatingIfNeeded: hash))
        }
        return result
    }

    /// The same in each process: which repeated tiles are found, and so an archive's bytes, depends on the hashes. Whoever
    /// chooses contents of equal hashes makes an archive compare them, and no more.
    private static let key = SipHash(0, 0)

    private func append(
        _ tile: borrowing ByteWriter, to output: inout [UInt8], _ compressor: inout TileCompressor
    ) throws(ArchiveError) {
        try tile.withBytes { (bytes) throws(ArchiveError) -> Void in
            guard request.isCompressed else { return output.append(contentsOf: bytes.bytes) }
            guard bytes.count >= Self.leastCompressed else { return StoredGzip.append(bytes, to: &output) }
            guard bytes.count <= Self.mostInOneStep else { return try appendInSteps(bytes, to: &output) }
            do throws(CompressionError) {
                try compressor.compress(bytes, appendingTo: &output)
            } catch { throw ArchiveError.outOfMemory }
        }
    }

    /// Compresses in steps, for tiles that would delay a cancellation.
    private func appendInSteps(_ tile: Span<UInt8>, to output: inout [UInt8]) throws(ArchiveError) {
        let isWhole: Bool
        do throws(CompressionError) {
            var stream = try DeflateStream(format: .gzip, level: 1)
            isWhole = try stream.compress(tile, appendingTo: &output) { cancellation.isCancelled }
        } catch { throw .outOfMemory }
        if !isWhole { throw .cancelled }
    }

    /// Tiles of fewer bytes are not compressed, since that saves almost nothing. Most tiles of deep zooms are smaller.
    private static let leastCompressed = 256

    /// The most bytes to compress without a check for cancellation: about 10 ms of work.
    private static let mostInOneStep = 2 << 20

    private static func compressor() throws(ArchiveError) -> TileCompressor {
        do throws(CompressionError) { return try TileCompressor(level: 1) } catch {
            throw .outOfMemory
        }
    }
}

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
            try append(TileBlock(zoom: 0, cell: TileCell(x: 0, y: 0)), zoom, of: index, to: &batches, cancellation)
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

/// The encoded tiles of a batch, one after another.
struct EncodedBatch: Sendable {
    var ids: [UInt64] = []
    var ends: [Int] = []
    var hashes: [Int] = []
    var bytes: [UInt8] = []
}

/// Compresses the directories and the metadata of an archive, as small as gzip can.
///
/// An archive may have thousands of directories, which take long at that level. So it checks for cancellation before
/// each directory, and after every 256 KiB of a long one.
struct DirectoryCompressor: ~Copyable {
    private var stream: DeflateStream
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) throws(ArchiveError) {
        do throws(CompressionError) { stream = try DeflateStream(format: .gzip, level: 9) } catch {
            throw .outOfMemory
        }
        self.cancellation = cancellation
    }

    mutating func compress(_ bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
        if cancellation.isCancelled { throw .cancelled }
        var output: [UInt8] = []
        let isWhole: Bool
        do throws(CompressionError) {
            isWhole = try stream.compress(bytes.span, appendingTo: &output) { cancellation.isCancelled }
        } catch { throw .outOfMemory }
        guard isWhole else { throw .cancelled }
        return output
    }
}
