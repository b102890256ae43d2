// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import Glibc
import JSON
import SourceEngine

/// Where a cluster's points lie: their extent, whether they coincide, and which is nearest its centre.
struct ClusterExtent {
    /// Greater than `east` if the shortest extent crosses the antimeridian.
    private(set) var west = Double.infinity
    private(set) var south = Double.infinity
    private(set) var east = -Double.infinity
    private(set) var north = -Double.infinity
    /// The location of the point nearest to the cluster's centre on the map. The first one wins a tie.
    private(set) var anchor = (longitude: 0.0, latitude: 0.0)
    /// The number of points.
    let count: Int

    var isOneLocation: Bool { west == east && south == north }

    /// - Complexity: O(points); O(points × log(points)) if they span more than half the world.
    ///
    /// - Parameter leaves: those of the cluster's points that count.
    init(
        of cluster: ClusterOrdinal, _ leaves: some RandomAccessCollection<PointIndex>, in view: View,
        store: FeatureStore
    ) {
        let centre = view.index.unitPosition(of: cluster)
        let projection = view.index.projection
        count = leaves.count
        var nearest = Double.infinity
        for leaf in leaves {
            let feature = view.feature(of: leaf)
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
    static func write(_ longitude: Double, _ latitude: Double, precision: Int?, into bytes: inout ByteWriter) {
        bytes.append("[")
        bytes.append(number: rounded(longitude, precision))
        bytes.append(",")
        bytes.append(number: rounded(latitude, precision))
        bytes.append("]")
    }

    /// The number that JSON's text of it stands for: a zero has no sign.
    static func exact(_ number: Double, _ decimals: Int?) -> Double { rounded(number, decimals) + 0 }

    static func rounded(_ number: Double, _ decimals: Int?) -> Double {
        decimals.map { number.rounded(decimals: $0) } ?? number
    }
}

/// Where to draw the points of a cluster whose points all coincide, so that each can be seen and clicked: in pixels
/// from that location, x to the right and y down. Up to 8 points stand on a circle, more on a spiral.
enum SpiderOffsets {
    /// More points get no offset.
    static let most = 60
    private static let mostOnCircle = 8
    /// The approximate distance of neighbours in pixels: a marker's width.
    private static let distance = 28.0

    static func offsets(of count: Int) -> [(x: Double, y: Double)] {
        count <= mostOnCircle ? circle(count) : spiral(min(count, most))
    }

    /// The first point is at the top, the others follow clockwise.
    private static func circle(_ count: Int) -> [(x: Double, y: Double)] {
        let step = 2 * Double.pi / Double(max(count, 1))
        let radius = max(distance, distance / (2 * sin(step / 2)))
        return (0..<count).map { offset(angle: Double($0) * step, radius: radius) }
    }

    /// An Archimedean spiral whose turns are as far apart as its points.
    private static func spiral(_ count: Int) -> [(x: Double, y: Double)] {
        var (angle, radius) = (0.0, distance)
        return (0..<count).map { _ in
            let next = offset(angle: angle, radius: radius)
            angle += distance / radius
            radius = distance * (1 + angle / (2 * Double.pi))
            return next
        }
    }

    private static func offset(angle: Double, radius: Double) -> (x: Double, y: Double) {
        func rounded(_ value: Double) -> Double {
            let tenths = (value * 10).rounded() / 10
            return tenths == 0 ? 0 : tenths
        }
        return (rounded(radius * sin(angle)), rounded(-radius * cos(angle)))
    }
}
