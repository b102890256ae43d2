// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Sources
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
