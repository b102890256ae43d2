// SPDX-License-Identifier: MIT
import Clustering
import Sources
import SystemSupport

/// How much an answer may cost, told in little time: whoever has little time puts the rest elsewhere.
extension View {
    /// About how many nodes a box shows; too many rather than too few.
    public func expectedNodes(in box: Box, zoom: Double) -> Int {
        let width = min(1, box.west <= box.east ? (box.east - box.west) / 360 : 1)
        let top = Mercator.y(latitude: max(-90, min(90, box.north)))
        let bottom = Mercator.y(latitude: max(-90, min(90, box.south)))
        return expectedNodes(area: width * max(0, bottom - top), at: index.level(for: zoom))
    }

    /// The same for a tile of a zoom with its margin.
    public func expectedNodes(inTileOf z: Int) -> Int {
        let level = index.level(for: Double(z))
        let options = index.options
        let margin = options.radii[min(max(z, 0), options.radii.count - 1)] / options.extent
        let side = min(1, (1 + 2 * margin) / Double(sign: .plus, exponent: z, significand: 1))
        return expectedNodes(area: side * side, at: level)
    }

    /// - Parameter area: of the unit square.
    private func expectedNodes(area: Double, at level: Zoom) -> Int {
        let options = index.options
        let tiles = area * Double(sign: .plus, exponent: 2 * level.rawValue, significand: 1)
        // Where pairs cluster, no two nodes are within a radius: so many fit a tile at most. Elsewhere points
        // may lie on each other, and a guess has to do.
        let radius = level.rawValue <= options.maximumZoom ? options.radii[level.rawValue] : 0
        let isSpaced = options.minimumPoints <= 2 && radius > 0
        let density = isSpaced ? options.extent * options.extent / (radius * radius) : Self.guessedDensity
        let expected = min(tiles * density, Double(index.pointCount))
        return expected.isFinite ? Int(expected) : index.pointCount
    }

    private static let guessedDensity = 200.0

    /// How many children a cluster has; 0 where there is none of this id.
    public func childCount(of clusterId: Int64) -> Int {
        index.cluster(id: clusterId).map { index.children(of: $0).count } ?? 0
    }

    /// How many points a cluster has; 0 where there is none of this id.
    public func pointCount(of clusterId: Int64) -> Int {
        index.cluster(id: clusterId).map { index.pointCount(of: $0) } ?? 0
    }

    /// How many points are looked at for a cluster's hull: none where it is known already.
    public func hullCost(of clusterId: Int64) -> Int {
        guard let cluster = index.cluster(id: clusterId), AnswerCache.of(self).hulls.hull(of: cluster) == nil
        else { return 0 }
        return index.pointCount(of: cluster)
    }
}
