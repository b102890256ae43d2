// SPDX-License-Identifier: MIT

/// Sizes of a spatial index's arrays: one bit per node and level, in words of 64 nodes and groups of 64 words.
struct SpatialLayout: Sendable {
    let pointCount: Int
    let nodeCount: Int
    let minimumZoom: Int
    let levels: Int
    var wordCount: Int { (nodeCount + 63) / 64 }
    var groupCount: Int { (wordCount + 63) / 64 }
}
