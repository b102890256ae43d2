// SPDX-License-Identifier: MIT
import Clustering

/// Finds the extent of an index's points without examining most of them: from each side of a box that contains
/// them, in strips that widen inwards.
package struct EdgeSearch {
    package let index: ClusterIndex
    /// The position of a point in degrees.
    package let position: (PointIndex) -> (longitude: Double, latitude: Double)

    /// Where a strip begins. Along it, "depth" is a coordinate that rises inwards.
    private enum Side {
        case west, south, east, north

        func depth(_ location: (longitude: Double, latitude: Double)) -> Double {
            switch self {
            case .west: location.longitude
            case .south: location.latitude
            case .east: -location.longitude
            case .north: -location.latitude
            }
        }

        /// The part of the world up to a depth.
        func strip(to depth: Double, of world: Box) -> Box {
            var box = world
            switch self {
            case .west: box.east = min(world.east, depth)
            case .south: box.north = min(world.north, depth)
            case .east: box.west = max(world.west, -depth)
            case .north: box.south = max(world.south, -depth)
            }
            return box
        }
    }

    /// An upper bound of the error of the index's positions, and the first strip's width: 0.001 degrees, or the same
    /// fraction of a plane.
    private let tolerance: Double
    private let world: Box

    package init(index: ClusterIndex, position: @escaping (PointIndex) -> (longitude: Double, latitude: Double)) {
        self.index = index
        self.position = position
        let domain = index.projection.domain
        world = Box(west: domain.west, south: domain.south, east: domain.east, north: domain.north)
        tolerance = max(domain.east - domain.west, domain.north - domain.south) / 360_000
    }

    /// Whether the first strips are narrow beside a box.
    package func isSelective(in box: Box) -> Bool {
        min(box.east - box.west, box.north - box.south) > 64 * tolerance
    }

    /// The points' extent. O(points in the strips).
    ///
    /// - Parameter box: contains all points.
    package func extent(within box: Box) -> Box {
        Box(
            west: edge(.west, from: box.west, to: box.east),
            south: edge(.south, from: box.south, to: box.north),
            east: -edge(.east, from: -box.east, to: -box.west),
            north: -edge(.north, from: -box.north, to: -box.south))
    }

    /// The least depth of a point on one side.
    private func edge(_ side: Side, from start: Double, to end: Double) -> Double {
        var reach = start + tolerance
        while true {
            let least = least(side, to: reach)
            // Points whose index position is farther inside than their true one may lie beyond the strip.
            if let least, least + tolerance <= reach || reach >= end + tolerance { return least }
            guard reach < end + tolerance else { return start }
            reach = least.map { $0 + tolerance } ?? start + 8 * (reach - start)
        }
    }

    /// The least depth of the points in a strip of the index; nil if there are none.
    private func least(_ side: Side, to reach: Double) -> Double? {
        let strip = side.strip(to: reach, of: world)
        var nodes: [Node] = []
        _ = index.nodes(
            west: strip.west, south: strip.south, east: strip.east, north: strip.north,
            at: index.level(for: .infinity), into: &nodes)
        var least: Double?
        for case .point(let point) in nodes {
            let depth = side.depth(position(point))
            least = min(least ?? depth, depth)
        }
        return least
    }
}
