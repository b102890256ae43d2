// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import Synchronization
import SystemSupport

/// Writes all tiles of a revision's features, or of those that pass a filter, as a PMTiles archive.
///
/// Tiles are encoded on all cores, batch by batch, and written in the archive's order. Memory is bounded by a few
/// batches, whatever the archive's size, and by one view if the filter depends on the zoom.
public struct TilePublication: Sendable {
    private let revision: Revision
    private let filter: QueryFilter?
    private let request: ArchiveRequest
    private let threads: Int
    private let cancellation: Cancellation

    /// - Parameter threads: the number of threads that encode. The archive does not depend on it.
    public init(
        of revision: Revision, _ filter: QueryFilter?, _ request: ArchiveRequest, threads: Int,
        _ cancellation: Cancellation
    ) {
        self.revision = revision
        self.filter = filter
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
        var views = ArchiveViews(of: revision, filter, cancellation)
        let parts = try parts(&views)
        let writer = Mutex(try ArchiveWriter(for: target))
        let tileCount = try writeTiles(of: parts, &views, with: writer, progress)
        let features = try views.features(at: request.zooms)
        let bounds = try bounds(of: features)
        let fields = try fields(of: features, clustersOf: try views.viewOfFields(at: request.zooms))
        let metadata = metadata(features, fields, bounds)
        let size = try writer.withLock { (writer) throws(ArchiveError) in
            try writer.finish(metadata: metadata, cancellation) { complete(&$0, bounds) }
            return writer.fileSize
        }
        try check()
        try writer.withLock { (writer) throws(ArchiveError) in try writer.synchronize() }
        try check()
        guard !revision.isDamaged else {
            throw .source(.conflict("the source's data turned out to be damaged while they were read"))
        }
        try writer.withLock { (writer) throws(ArchiveError) in
            try writer.publish(as: target.name, overwrite: target.overwrites)
        }
        return ArchiveSummary(
            tiles: tileCount, bytes: size, zooms: request.zooms, bounds: bounds, revision: revision.number)
    }

    /// The tiles of each zoom, and about how many bytes they take. Encodes at most 32 batches of each zoom and writes
    /// nothing.
    public func estimate() throws(ArchiveError) -> [ZoomEstimate] {
        var views = ArchiveViews(of: revision, filter, cancellation)
        var zooms: [ZoomEstimate] = []
        for zoom in request.zooms {
            let view = try views.view(at: zoom)
            let batches = try TileBatch.all(view.index, zooms: zoom...zoom, cancellation)
            let step = (batches.count + Self.mostSampled - 1) / Self.mostSampled
            let sample = stride(from: 0, to: batches.count, by: max(1, step)).map { batches[$0] }
            let encoder = TileBatchEncoder(revision: revision, view: view, request: request, cancellation: cancellation)
            let encoded = try encode(sample, encoder) {}
            let found = encoded.reduce((tiles: 0, bytes: 0)) { ($0.tiles + $1.ids.count, $0.bytes + $1.bytes.count) }
            let tiles = step > 1 ? try countTiles(batches, view.index) : found.tiles
            // An entry of a directory takes about four bytes once it is compressed.
            let perTile = Double(found.bytes) / Double(max(1, found.tiles)) + 4
            zooms.append(ZoomEstimate(zoom: zoom, tiles: tiles, bytes: Int(perTile * Double(tiles))))
        }
        return zooms
    }

    private static let mostSampled = 32

    private func complete(_ header: inout ArchiveHeader, _ bounds: Box?) {
        header.minimumZoom = request.zooms.lowerBound
        header.maximumZoom = request.zooms.upperBound
        header.tileCompression = request.isCompressed ? .gzip : .none
        guard let bounds else { return }
        let projection = revision.options.clustering.projection
        (header.west, header.south) = projection.degrees(x: bounds.west, y: bounds.south)
        (header.east, header.north) = projection.degrees(x: bounds.east, y: bounds.north)
    }

    /// The extent of some features, in the source's units; nil without features.
    private func bounds(of features: PassingFeatures) throws(ArchiveError) -> Box? {
        guard let rows = features.rows else { return revision.bounds }
        guard !rows.isEmpty else { return nil }
        var box = Box.nowhere
        for (position, row) in rows.enumerated() {
            if position & 0xffff == 0 { try check() }
            box.include(revision.store.coordinates(Int(row)))
        }
        return box
    }

    /// The tiles of zooms that show the same view.
    private struct Part {
        let zooms: ClosedRange<Int>
        let batches: [TileBatch]
        let tileCount: Int
    }

    /// Divides the work. The deepest zooms come first, since writing begins with the views that were used last and so
    /// are most likely still cached.
    private func parts(_ views: inout ArchiveViews) throws(ArchiveError) -> [Part] {
        var parts: [Part] = []
        for zooms in views.runs(of: request.zooms).reversed() {
            let index = try views.view(at: zooms.lowerBound).index
            let batches = try TileBatch.all(index, zooms: zooms, cancellation)
            parts.append(Part(zooms: zooms, batches: batches, tileCount: try countTiles(batches, index)))
        }
        return parts.reversed()
    }

    /// Writes all tiles and returns how many there are.
    ///
    /// One thread writes finished batches while the others encode the next ones.
    private func writeTiles(
        of parts: [Part], _ views: inout ArchiveViews, with writer: borrowing Mutex<ArchiveWriter>,
        _ progress: (ArchiveProgress) -> Void
    ) throws(ArchiveError) -> Int {
        var state = ArchiveProgress(tiles: 0, ofTiles: parts.reduce(0) { $0 + $1.tileCount }, bytes: 0)
        progress(state)
        var encoded: [EncodedBatch] = []
        for part in parts {
            let encoder = TileBatchEncoder(
                revision: revision, view: try views.view(at: part.zooms.lowerBound), request: request,
                cancellation: cancellation)
            for start in stride(from: 0, to: part.batches.count, by: batchesAtOnce) {
                let window = Array(part.batches[start..<min(part.batches.count, start + batchesAtOnce)])
                let before = encoded
                encoded = try encode(window, encoder) { () throws(ArchiveError) in try write(before, with: writer) }
                state.tiles += before.reduce(0) { $0 + $1.ids.count }
                state.bytes = writer.withLock { Int($0.byteCount) }
                progress(state)
            }
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

    private func countTiles(_ batches: [TileBatch], _ index: ClusterIndex) throws(ArchiveError) -> Int {
        let count = Atomic<Int>(0)
        Parallel(.own, threads: threads).forEach(below: batches.count) { job in
            guard !cancellation.isCancelled else { return }
            count.add(batches[job].tileIDs(index).count, ordering: .relaxed)
        }
        try check()
        return count.load(ordering: .relaxed)
    }

    // MARK: Encoding

    /// Encodes batches, and runs `work` at the same time.
    private func encode(
        _ batches: [TileBatch], _ encoder: TileBatchEncoder, beside work: @Sendable () throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> [EncodedBatch] {
        let results = Mutex<[EncodedBatch]>(Array(repeating: EncodedBatch(), count: batches.count))
        let failure = Mutex<ArchiveError?>(nil)
        Parallel(.own, threads: threads).forEach(below: batches.count + 1) { job in
            if job > 0, failure.withLock({ $0 != nil }) { return }
            do throws(ArchiveError) {
                guard job > 0 else { return try work() }
                let encoded = try encoder.encode(batches[job - 1])
                results.withLock { $0[job - 1] = encoded }
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { $0 }
    }

    private func write(_ batches: [EncodedBatch], with writer: borrowing Mutex<ArchiveWriter>) throws(ArchiveError) {
        for batch in batches {
            try check()
            try writer.withLock { (writer) throws(ArchiveError) -> Void in try write(batch, with: writer) }
        }
    }

    private func write(_ batch: EncodedBatch, with writer: ArchiveWriter) throws(ArchiveError) {
        var start = 0
        for (tile, end) in batch.ends.enumerated() {
            try writer.append(batch.bytes[start..<end], id: batch.ids[tile], hash: batch.hashes[tile])
            start = end
        }
    }

    // MARK: Metadata

    private func fields(
        of features: PassingFeatures, clustersOf view: View
    ) throws(ArchiveError) -> [String: FieldStatistics] {
        do throws(SourceError) {
            return try revision.fields(
                of: features, clustersOf: view, output: request.output, threads: threads, cancellation)
        } catch { throw ArchiveError(error) }
    }

    private func metadata(_ features: PassingFeatures, _ fields: [String: FieldStatistics], _ bounds: Box?) -> [UInt8] {
        var plane: ArchiveMetadata.Plane?
        if case .planar(let box) = revision.options.clustering.projection {
            plane = ArchiveMetadata.Plane(box: box, bounds: bounds)
        }
        return ArchiveMetadata(
            name: request.name, description: request.description, attribution: request.attribution,
            generator: request.generator, layer: request.layer, minimumZoom: request.zooms.lowerBound,
            maximumZoom: request.zooms.upperBound, part: request.part, pointCount: features.count, fields: fields,
            plane: plane
        ).json
    }
}
