// SPDX-License-Identifier: MIT
import Responses
import JSON
import SourceEngine

extension Revision {
    /// A tile as JSON and as the bytes of a vector tile, for comparisons.
    package func text(of tile: TileAddress) throws -> String {
        var bytes = ByteWriter()
        try writeTile(tile, of: view, into: &bytes, .never)
        var vector = ByteWriter()
        try appendVectorTile(tile, of: view, layer: "test", output: FeatureOutput(), into: &vector, .never)
        return bytes.string + vector.withUnsafeBytes { "\(Array($0))" }
    }
}
