// SPDX-License-Identifier: MIT
import Clustering
import Compression
import GeoJSON
import JSON
import Sources
import Synchronization
import SystemSupport
import TileCompression

/// Writes all tiles of a view as a PMTiles archive.
///
/// Tiles are encoded on all cores, batch by batch, and written in the archive's order. Memory is bounded by a few batches,
/// whatever the archive's size.
public struct TilePublication: Sendable {
    private let revision: Revision
    private let view: View
    private let request: ArchiveRequest
    private let threads: Int
    private let cancellation: Cancellation

    /// - Parameter threads: the number of threads that encode. The archive does not depend on it.
    public init(
        of view: View, revision: Revision, _ request: ArchiveRequest, threads: Int,
        _ cancellation: Cancellation
    ) {
        self.revision = revision
        self.view = view
        self.request = request
        self.threads = max(1, threads)
        self.cancellation = cancellation
    }

    /// Writes the archive. An error leaves nothing behind.
    ///
    /// - Parameter progress: called on this thread after every few batches.
    public func write(
        to target: ArchiveTarget, _ progress: (ArchiveProgress) -> Void
    ) throws(ArchiveError) -> ArchiveSummary {
        let writer = Mutex(try ArchiveWriter(for: target))
        let tileCount = try writeTiles(with: writer, progress)
        let bounds = try bounds()
        let metadata = metadata(try fields(), bounds)
        let size = try writer.withLock { (writer) throws(ArchiveError) in
            try writer.finish(metadata: metadata) { complete(&$0, bounds) }
            return writer.fileSize
        }
        try check()
        try writer.withLock { (writer) throws(ArchiveError) in try writer.synchronize() }
        try check()
        try writer.withLock { (writer) throws(ArchiveError) in
            try writer.publish(as: target.name, overwrite: target.overwrites)
        }
        return ArchiveSummary(
            tiles: tileCount, bytes: size, zooms: request.zooms, bounds: bounds, revision: revision.number)
    }

    private func complete(_ header: inout ArchiveHeader, _ bounds: Box?) {
        header.minimumZoom = request.zooms.lowerBound
        header.maximumZoom = request.zooms.upperBound
        header.tileCompression = request.isCompressed ? .gzip : .none
        guard let bounds else { return }
        let projection = view.index.projection
        (header.west, header.south) = projection.degrees(x: bounds.west, y: bounds.south)
        (header.east, header.north) = projection.degrees(x: bounds.east, y: bounds.north)
    }

    /// The extent of the points, in the source's units; nil without points.
    private func bounds() throws(ArchiveError) -> Box? {
        guard view.members != nil else { return view.bounds }
        guard view.index.pointCount > 0 else { return nil }
        var box = Box.nowhere
        for point in 0..<UInt32(truncatingIfNeeded: view.index.pointCount) {
            if point & 0xffff == 0 { try check() }
            box.include(revision.store.coordinates(view.feature(of: PointIndex(rawValue: point))))
        }
        return box
    }

    /// Writes all tiles and returns how many there are.
    ///
    /// One thread writes finished batches while the others encode the next ones.
    private func writeTiles(
        with writer: borrowing Mutex<ArchiveWriter>, _ progress: (ArchiveProgress) -> Void
    ) throws(ArchiveError) -> Int {
        let batches = TileBatch.all(view.index, zooms: request.zooms)
        var state = ArchiveProgress(tiles: 0, ofTiles: try countTiles(batches), bytes: 0)
        progress(state)
        var encoded: [EncodedBatch] = []
        for start in stride(from: 0, to: batches.count, by: batchesAtOnce) {
            let window = Array(batches[start..<min(batches.count, start + batchesAtOnce)])
            let before = encoded
            encoded = try encode(window) { () throws(ArchiveError) in try write(before, with: writer) }
            state.tiles += before.reduce(0) { $0 + $1.ids.count }
            state.bytes = writer.withLock { Int($0.byteCount) }
            progress(state)
        }
        try write(encoded, with: writer)
        state.tiles += encoded.reduce(0) { $0 + $1.ids.count }
        state.bytes = writer.withLock { Int($0.byteCount) }
        progress(state)
        return state.tiles
    }

    /// Many batches for each thread, so that none waits long for the slowest.
    private var batchesAtOnce: Int { threads * 16 }

    private func check() throws(ArchiveError) {
        if cancellation.isCancelled { throw .cancelled }
    }

    private func countTiles(_ batches: [TileBatch]) throws(ArchiveError) -> Int {
        let count = Atomic<Int>(0)
        BackgroundThread.forEach(below: batches.count, threads: threads) { index in
            guard !cancellation.isCancelled else { return }
            count.add(batches[index].tileIDs(view.index).count, ordering: .relaxed)
        }
        try check()
        return count.load(ordering: .relaxed)
    }

    // MARK: Encoding

    /// The encoded tiles of a batch, one after another.
    private struct EncodedBatch: Sendable {
        var ids: [UInt64] = []
        var ends: [Int] = []
        var hashes: [Int] = []
        var bytes: [UInt8] = []
    }

    /// Encodes batches, and runs `work` at the same time.
    private func encode(
        _ batches: [TileBatch], beside work: @Sendable () throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> [EncodedBatch] {
        let results = Mutex<[EncodedBatch]>(Array(repeating: EncodedBatch(), count: batches.count))
        let failure = Mutex<ArchiveError?>(nil)
        BackgroundThread.forEach(below: batches.count + 1, threads: threads) { job in
            if job > 0, failure.withLock({ $0 != nil }) { return }
            do throws(ArchiveError) {
                guard job > 0 else { return try work() }
                let encoded = try encode(batches[job - 1])
                results.withLock { $0[job - 1] = encoded }
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { $0 }
    }

    private func encode(_ batch: TileBatch) throws(ArchiveError) -> EncodedBatch {
        var result = EncodedBatch()
        var tile = ByteWriter(capacity: 1 << 14)
        var compressor = try Self.compressor()
        for id in batch.tileIDs(view.index) {
            try check()
            let cell = ArchiveTileID.place(of: id, z: batch.zoom)
            guard let address = TilePlace(z: batch.zoom, x: cell.x, y: cell.y) else { continue }
            tile.truncate(to: 0)
            do throws(SourceError) {
                try revision.appendVectorTile(
                    address, of: view, layer: request.layer, output: request.output, into: &tile,
                    cancellation)
            } catch { throw error == .cancelled ? .cancelled : .source(error) }
            let start = result.bytes.count
            try append(tile, to: &result.bytes, &compressor)
            result.ids.append(id)
            result.ends.append(result.bytes.count)
            result.hashes.append(
                result.bytes.withUnsafeBytes {
                    ArchiveWriter.hash(UnsafeRawBufferPointer(rebasing: $0[start...]))
                })
        }
        return result
    }

    private func append(
        _ tile: borrowing ByteWriter, to output: inout [UInt8], _ compressor: inout TileCompressor
    ) throws(ArchiveError) {
        try tile.withUnsafeBytes { (bytes) throws(ArchiveError) -> Void in
            guard request.isCompressed else { return output.append(contentsOf: bytes) }
            guard bytes.count >= Self.leastCompressed else { return StoredGzip.append(bytes, to: &output) }
            guard bytes.count <= Self.mostInOneStep else { return try appendInSteps(bytes, to: &output) }
            do throws(CompressionError) {
                try compressor.compress(bytes, appendingTo: &output)
            } catch { throw ArchiveError.outOfMemory }
        }
    }

    /// Compresses in steps, for tiles that would delay a cancellation.
    private func appendInSteps(
        _ tile: UnsafeRawBufferPointer, to output: inout [UInt8]
    ) throws(ArchiveError) {
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

    private func write(
        _ batches: [EncodedBatch], with writer: borrowing Mutex<ArchiveWriter>
    ) throws(ArchiveError) {
        for batch in batches {
            try check()
            try writer.withLock { (writer) throws(ArchiveError) -> Void in try write(batch, with: writer) }
        }
    }

    private func write(_ batch: EncodedBatch, with writer: ArchiveWriter) throws(ArchiveError) {
        var start = 0
        for (tile, end) in batch.ends.enumerated() {
            try batch.bytes.withUnsafeBufferPointer { (bytes) throws(ArchiveError) in
                let content = UnsafeBufferPointer(rebasing: bytes[start..<end])
                try writer.append(
                    UnsafeRawBufferPointer(content), id: batch.ids[tile], hash: batch.hashes[tile])
            }
            start = end
        }
    }

    // MARK: Metadata

    private func fields() throws(ArchiveError) -> [String: FieldStatistics] {
        do throws(SourceError) {
            return try revision.fields(
                of: view, output: request.output, threads: threads, cancellation)
        } catch { throw error == .cancelled ? .cancelled : .source(error) }
    }

    private func metadata(_ fields: [String: FieldStatistics], _ bounds: Box?) -> [UInt8] {
        var plane: ArchiveMetadata.Plane?
        if case .planar(let box) = view.index.projection {
            plane = ArchiveMetadata.Plane(box: box, bounds: bounds)
        }
        return ArchiveMetadata(
            name: request.name, description: request.description, attribution: request.attribution,
            generator: request.generator, layer: request.layer, minimumZoom: request.zooms.lowerBound,
            maximumZoom: request.zooms.upperBound, pointCount: view.index.pointCount, fields: fields,
            plane: plane
        ).json
    }
}
