// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import SourceStorage
import SystemSupport

/// Finds the extent of an index's points without looking at most of them: from each side of a box that holds
/// them, in strips that widen inwards.
package struct EdgeSearch {
    package let index: ClusterIndex
    /// Where a point is, in degrees.
    package let position: (PointIndex) -> (longitude: Double, latitude: Double)

    /// Where a strip begins. Along it, "depth" is a coordinate that rises inwards.
    private enum Side {
        case west, south, east, north

        func depth(_ place: (longitude: Double, latitude: Double)) -> Double {
            switch self {
            case .west: place.longitude
            case .south: place.latitude
            case .east: -place.longitude
            case .north: -place.latitude
            }
        }

        /// The world up to a depth.
        func strip(to depth: Double) -> Box {
            var box = Box.world
            switch self {
            case .west: box.east = min(180, depth)
            case .south: box.north = min(90, depth)
            case .east: box.west = max(-180, -depth)
            case .north: box.south = max(-90, -depth)
            }
            return box
        }
    }

    /// In degrees: more than the index's own positions may be off by, and the first strip's width.
    private static let tolerance = 1e-3

    /// The points' extent. O(points in the strips).
    ///
    /// - Parameter box: holds them all.
    package func extent(within box: Box) -> Box {
        Box(
            west: edge(.west, from: box.west, to: box.east),
            south: edge(.south, from: box.south, to: box.north),
            east: -edge(.east, from: -box.east, to: -box.west),
            north: -edge(.north, from: -box.north, to: -box.south))
    }

    /// The least depth of a point on one side.
    private func edge(_ side: Side, from start: Double, to end: Double) -> Double {
        var reach = start + Self.tolerance
        while true {
            let least = least(side, to: reach)
            // Points that the index has farther inside than they are may lie beyond the strip.
            if let least, least + Self.tolerance <= reach || reach >= end + Self.tolerance { return least }
            guard reach < end + Self.tolerance else { return start }
            reach = least.map { $0 + Self.tolerance } ?? start + 8 * (reach - start)
        }
    }

    /// The least depth of the points that the index has in a strip; nil where there are none.
    private func least(_ side: Side, to reach: Double) -> Double? {
        let strip = side.strip(to: reach)
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
