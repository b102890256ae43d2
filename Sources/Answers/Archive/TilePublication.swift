// SPDX-License-Identifier: MIT
import Clustering
import Compression
import GeoJSON
import JSON
import Sources
import Synchronization
import SystemSupport

/// Writes all tiles of a view as a PMTiles archive.
///
/// Tiles are encoded on all cores, batch by batch, and written in the archive's order. Memory is that of a few batches,
/// whatever the archive's size.
public struct TilePublication: Sendable {
    private let revision: Revision
    private let view: View
    private let request: ArchiveRequest
    private let threads: Int
    private let cancellation: Cancellation

    /// - Parameter threads: how many threads encode; the archive does not depend on it.
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
        let file = try ArchiveFile.create(in: target.directory.number)
        let writer = ArchiveWriter(file, entries: try ArchiveFile.create(in: target.directory.number))
        let batches = TileBatch.all(view.index, zooms: request.zooms)
        var state = ArchiveProgress(tiles: 0, ofTiles: try countTiles(batches), bytes: 0)
        progress(state)
        for start in stride(from: 0, to: batches.count, by: batchesAtOnce) {
            let window = batches[start..<min(batches.count, start + batchesAtOnce)]
            for encoded in try encode(Array(window)) {
                try append(encoded, to: writer)
                state.tiles += encoded.ends.count
            }
            state.bytes = Int(writer.byteCount)
            progress(state)
        }
        let bounds = bounds
        let metadata = try metadata(try fields())
        try writer.finish(metadata: metadata) { header in
            header.minimumZoom = request.zooms.lowerBound
            header.maximumZoom = request.zooms.upperBound
            header.tileCompression = request.isCompressed ? .gzip : .none
            guard let bounds else { return }
            (header.west, header.south) = (bounds.west, bounds.south)
            (header.east, header.north) = (bounds.east, bounds.north)
        }
        try check()
        try file.publish(as: target.name, overwrite: target.overwrites)
        return ArchiveSummary(
            tiles: state.tiles, bytes: writer.fileSize, zooms: request.zooms, bounds: bounds,
            revision: revision.number)
    }

    /// The extent of the points; nil without points.
    private var bounds: Box? {
        guard view.members != nil else { return view.bounds }
        guard view.index.pointCount > 0 else { return nil }
        var box = Box.nowhere
        for point in 0..<UInt32(truncatingIfNeeded: view.index.pointCount) {
            box.include(revision.store.coordinates(view.feature(of: PointIndex(rawValue: point))))
        }
        return box
    }

    /// Several batches a thread, so that none waits long for the slowest.
    private var batchesAtOnce: Int { threads * 4 }

    private func check() throws(ArchiveError) {
        if cancellation.isCancelled { throw .cancelled }
    }

    private func countTiles(_ batches: [TileBatch]) throws(ArchiveError) -> Int {
        let count = Atomic<Int>(0)
        BoundedConcurrency.forEach(below: batches.count, threads: threads) { index in
            guard !cancellation.isCancelled else { return }
            count.add(batches[index].tileIDs(view.index).count, ordering: .relaxed)
        }
        try check()
        return count.load(ordering: .relaxed)
    }

    // MARK: Encoding

    /// The encoded tiles of a batch, one behind the other.
    private struct EncodedBatch: Sendable {
        var ids: [UInt64] = []
        var ends: [Int] = []
        var bytes: [UInt8] = []
    }

    private func encode(_ batches: [TileBatch]) throws(ArchiveError) -> [EncodedBatch] {
        let outcomes = Mutex<[Int: Result<EncodedBatch, ArchiveError>]>([:])
        BoundedConcurrency.forEach(below: batches.count, threads: threads) { index in
            let outcome: Result<EncodedBatch, ArchiveError>
            do throws(ArchiveError) { outcome = .success(try encode(batches[index])) } catch {
                outcome = .failure(error)
            }
            outcomes.withLock { $0[index] = outcome }
        }
        let all = outcomes.withLock { $0 }
        var encoded: [EncodedBatch] = []
        for index in batches.indices {
            if let outcome = all[index] { encoded.append(try outcome.get()) }
        }
        return encoded
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
            try append(tile, to: &result, &compressor)
            result.ids.append(id)
            result.ends.append(result.bytes.count)
        }
        return result
    }

    private func append(
        _ tile: borrowing ByteWriter, to result: inout EncodedBatch, _ compressor: inout DeflateStream
    ) throws(ArchiveError) {
        try tile.withUnsafeBytes { (bytes) throws(ArchiveError) -> Void in
            guard request.isCompressed else {
                result.bytes.append(contentsOf: bytes)
                return
            }
            let isWhole: Bool
            do throws(CompressionError) {
                isWhole = try compressor.compress(bytes, appendingTo: &result.bytes) {
                    cancellation.isCancelled
                }
            } catch { throw ArchiveError.outOfMemory }
            if !isWhole { throw ArchiveError.cancelled }
        }
    }

    private static func compressor() throws(ArchiveError) -> DeflateStream {
        do throws(CompressionError) { return try DeflateStream(format: .gzip) } catch { throw .outOfMemory }
    }

    private func append(_ batch: EncodedBatch, to writer: ArchiveWriter) throws(ArchiveError) {
        var start = 0
        for (id, end) in zip(batch.ids, batch.ends) {
            try check()
            try batch.bytes.withUnsafeBufferPointer { (bytes) throws(ArchiveError) in
                let tile = UnsafeBufferPointer(rebasing: bytes[start..<end])
                try writer.append(UnsafeRawBufferPointer(tile), id: id)
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

    private func metadata(_ fields: [String: FieldStatistics]) throws(ArchiveError) -> [UInt8] {
        ArchiveMetadata(
            name: request.name, description: request.description, attribution: request.attribution,
            generator: request.generator, layer: request.layer, minimumZoom: request.zooms.lowerBound,
            maximumZoom: request.zooms.upperBound, pointCount: view.index.pointCount, fields: fields
        ).json
    }
}
