// SPDX-License-Identifier: MIT
import Clustering

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
