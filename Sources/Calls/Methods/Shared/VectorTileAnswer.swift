// SPDX-License-Identifier: MIT
import Answers
import Sources
import SystemSupport
import JSON
import VectorTile

/// What `GetTile` answers in.
enum TileEncoding: String {
    case json
    case mvt

    static let vectorTileMediaType = "application/vnd.mapbox-vector-tile"
}

extension Revision {
    /// Writes a tile as a Mapbox Vector Tile in base64: one layer, and no bytes where no features are there.
    ///
    /// - Parameter isRaw: whether the answer is the tile's bytes themselves, without JSON.
    ///
    /// Features, places, tags and ids are those of `writeTile`; ids that are no whole numbers from 0 up are
    /// left out, for a vector tile has no others.
    func writeVectorTile(
        _ tile: TilePlace, of view: View, layer: String, isRaw: Bool, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        var encoded = ByteWriter(capacity: 8192)
        try EncoderShelf.shared.lend { (encoder) throws(SourceError) in
            encoder.begin(layer: layer, extent: UInt32(clamping: options.extent))
            try eachTileFeature(tile, of: view, cancellation) { feature in
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
            encoder.finish(into: &encoded)
            return encoded.count
        }
        if isRaw { return encoded.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        bytes.append("{\"tile\":\"")
        encoded.withUnsafeBytes { Base64.append($0, to: &bytes) }
        bytes.append("\",\"revision\":")
        bytes.append(integer: Int64(clamping: number))
        bytes.append("}")
    }
}
