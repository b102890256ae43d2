// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Sources

/// Where a cluster's points lie: their extent, whether they are one place, and which is nearest its centre.
struct ClusterExtent {
    /// Greater than `east` if the shortest extent crosses the antimeridian.
    private(set) var west = Double.infinity
    private(set) var south = Double.infinity
    private(set) var east = -Double.infinity
    private(set) var north = -Double.infinity
    /// The location of the point nearest to the cluster's centre on the map. The first one wins a tie.
    private(set) var anchor = (longitude: 0.0, latitude: 0.0)

    var isOnePlace: Bool { west == east && south == north }

    /// - Complexity: O(points); O(points × log(points)) if they span more than half the world.
    init(of cluster: ClusterOrdinal, in view: View, store: FeatureStore) {
        let centre = view.index.unitPosition(of: cluster)
        let projection = view.index.projection
        let leaves = view.index.leaves(of: cluster)
        var nearest = Double.infinity
        for place in 0..<leaves.count {
            let feature = view.feature(of: leaves[place])
            let (longitude, latitude) = store.coordinates(feature)
            west = min(west, longitude)
            east = max(east, longitude)
            south = min(south, latitude)
            north = max(north, latitude)
            let dx = projection.x(longitude: longitude) - centre.x
            let dy = projection.y(latitude: latitude) - centre.y
            let distance = dx * dx + dy * dy
            if distance < nearest {
                nearest = distance
                anchor = (longitude, latitude)
            }
        }
        if projection.isRound, east - west > 180 {
            let longitudes = leaves.map { store.longitude(view.feature(of: $0)) }
            (west, east) = Self.shortestExtent(of: longitudes)
        }
    }

    /// The west and east ends of the circle of longitudes without its widest gap.
    static func shortestExtent(of longitudes: [Double]) -> (west: Double, east: Double) {
        let sorted = longitudes.sorted()
        guard let first = sorted.first, let last = sorted.last else { return (0, 0) }
        var (west, east) = (first, last)
        // Starts with the gap across the antimeridian.
        var widest = first + 360 - last
        for (left, right) in zip(sorted, sorted.dropFirst()) where right - left > widest {
            widest = right - left
            (west, east) = (right, left)
        }
        return (west, east)
    }
}

/// Writes positions.
enum Coordinates {
    /// Writes `[longitude,latitude]`, rounded to a number of decimals if one is given.
    static func write(
        _ longitude: Double, _ latitude: Double, precision: Int?, into bytes: inout ByteWriter
    ) {
        bytes.append("[")
        bytes.append(number: rounded(longitude, precision))
        bytes.append(",")
        bytes.append(number: rounded(latitude, precision))
        bytes.append("]")
    }

    static func rounded(_ number: Double, _ decimals: Int?) -> Double {
        decimals.map { number.rounded(decimals: $0) } ?? number
    }
}
