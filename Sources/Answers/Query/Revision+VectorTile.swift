// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Sources
import Synchronization
import SystemSupport
import VectorTile

extension Revision {
    /// Appends a tile as a Mapbox Vector Tile: one layer, and no bytes if the tile has no features.
    ///
    /// Features, positions, tags and ids are those of `writeTile`. Ids that are not integers from 0 up are left
    /// out, since a vector tile allows no others.
    public func appendVectorTile(
        _ tile: TilePlace, of view: View, layer: String, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        try EncoderShelf.shared.lend { (encoder) throws(SourceError) in
            encoder.begin(layer: layer, extent: UInt32(clamping: options.extent))
            let room = bytes.room
            try eachTileFeature(tile, of: view, output: output, cancellation) { feature in
                // A tile that does not fit is refused, so the rest of it needs no memory.
                guard encoder.byteCount <= room else { return }
                switch feature.content {
                case .cluster(let cluster, let count):
                    encoder.feature(x: feature.x, y: feature.y, id: UInt64(exactly: cluster.id))
                    encoder.clusterTags(
                        id: cluster.id, pointCount: cluster.pointCount, abbreviatedCount: count)
                case .other(let id, let tags):
                    encoder.feature(x: feature.x, y: feature.y, id: id.flatMap(TileIdentifier.parse))
                    encoder.tags(json: tags)
                }
            }
            let start = bytes.count
            encoder.finish(into: &bytes)
            return bytes.count - start
        }
    }
}

/// A pool of tile encoders for reuse. Making their tables takes a tenth of a tile's work.
/// Safe from any thread.
final class EncoderShelf: Sendable {
    static let shared = EncoderShelf()

    private let idle = Mutex<[Holder]>([])
    /// The number in use at the same time on most machines.
    private static let capacity = 8
    /// An encoder keeps the memory of its largest tile. Encoders that wrote larger tiles are freed.
    private static let largestTile = 64 << 10

    /// Only the thread that took it off the shelf uses it, so it may be sent.
    private final class Holder: @unchecked Sendable {
        var encoder = VectorTileEncoder()
    }

    /// Lends an encoder to `body`, which writes one tile.
    ///
    /// - Parameter body: returns the tile's size in bytes.
    func lend<Failure: Error>(
        _ body: (inout VectorTileEncoder) throws(Failure) -> Int
    ) throws(Failure) {
        let holder = idle.withLock { $0.popLast() } ?? Holder()
        guard try body(&holder.encoder) <= Self.largestTile else { return }
        idle.withLock { idle in
            if idle.count < Self.capacity { idle.append(holder) }
        }
    }
}
