// SPDX-License-Identifier: MIT
import Answers
import Sources
import SystemSupport
import JSON
import VectorTile

extension Revision {
    /// Writes a tile as a Mapbox Vector Tile, base64-encoded unless the answer is raw.
    ///
    /// - Parameter isRaw: whether the answer consists of the tile's bytes alone, without JSON.
    func writeVectorTile(
        _ tile: TilePlace, of view: View, layer: String, output: FeatureOutput, isRaw: Bool,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        if isRaw {
            return try appendVectorTile(
                tile, of: view, layer: layer, output: output, into: &bytes, cancellation)
        }
        var encoded = ByteWriter(capacity: 8192)
        try appendVectorTile(
            tile, of: view, layer: layer, output: output, into: &encoded, cancellation)
        bytes.append("{\"tile\":\"")
        encoded.withUnsafeBytes { Base64.append($0, to: &bytes) }
        bytes.append("\"")
        writeVersion(into: &bytes)
        bytes.append("}")
    }
}
