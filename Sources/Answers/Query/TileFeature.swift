// SPDX-License-Identifier: MIT
import Clustering

/// One feature of a tile, in the tile's own coordinates.
public struct TileFeature: Sendable {
    public let node: Node
    public let x: Int64
    public let y: Int64
}
