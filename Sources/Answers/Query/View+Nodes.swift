// SPDX-License-Identifier: MIT
import Clustering
import Sources

extension View {
    /// Finds the nodes of a query. Returns whether there are more than its limit.
    func nodes(_ query: ClustersQuery, into nodes: inout [Node]) throws(SourceError) -> Bool {
        let box = query.box
        guard index.projection.isRound || box.west <= box.east else {
            throw .invalidParameter(
                path: "bbox[2]",
                message: "must not be less than bbox[0]: a planar projection has no antimeridian")
        }
        return index.nodes(
            west: box.west, south: box.south, east: box.east, north: box.north,
            at: index.level(for: query.zoom), limit: query.limit ?? .max, into: &nodes)
    }
}
