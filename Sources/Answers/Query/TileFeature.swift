// SPDX-License-Identifier: MIT
import Clustering

/// One feature of a tile, in the tile's own coordinates.
public struct TileFeature: Sendable {
    public let node: Node
    public let x: Int64
    public let y: Int64
}

/// A tile's feature in parts, for encodings other than JSON.
public struct TileFeatureParts {
    public let x: Int64
    public let y: Int64
    public let content: Content

    /// A feature's content. Texts are valid only during the call that lends them.
    public enum Content {
        /// A cluster with only the four built-in tags. The abbreviated count is a JSON number or string.
        case cluster(ClusterSummary, abbreviatedCount: UnsafeRawBufferPointer)
        /// Any other feature, also a cluster with more tags, whose count is among them: the id as JSON text, nil if there is
        /// none, and the tags as JSON text, an object or null.
        case other(id: UnsafeRawBufferPointer?, tags: UnsafeRawBufferPointer)
    }
}

/// A tile's address: zoom, column and row.
public struct TilePlace: Sendable, Equatable {
    public let z: Int
    public let x: Int
    public let y: Int

    /// The deepest zoom of a tile. Columns and rows are still exact in 64-bit floats.
    public static let deepest = 30

    /// Nil if there is no such tile.
    public init?(z: Int, x: Int, y: Int) {
        guard (0...Self.deepest).contains(z) else { return nil }
        let side = 1 << z
        guard (0..<side).contains(x), (0..<side).contains(y) else { return nil }
        self.z = z
        self.x = x
        self.y = y
    }
}
