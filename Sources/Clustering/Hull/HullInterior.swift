// SPDX-License-Identifier: MIT

/// An area of the unit square that is certainly inside a convex polygon given in degrees: an interval of `y` for
/// each of a number of columns of equal width.
///
/// The polygon's edges are straight in degrees, but not in the unit square. So intervals are computed in degrees,
/// where the inside of a convex shape within a column is narrowest at one of the column's edges. They are then
/// projected, which preserves the order of latitudes.
struct HullInterior {
    /// The maximum distance between indexed and exact positions, in the unit square: eight times the error of
    /// rounding to 32 bits, which is far above the error of projecting. Points clamped to the square's edges are
    /// outside every interval.
    static let tolerance = 0x1p-22
    static let columns = 512

    private let west: Double
    private let scale: Double
    /// For each column, the least and the greatest `y`; the least is above the greatest if the interval is empty.
    private let intervals: [SIMD2<Double>]

    /// - Parameter ring: a ring in degrees, counter-clockwise and closed, as in `ConvexHull`.
    init?(_ ring: [Position], _ projection: Projection) {
        guard let first = ring.first, let easternmost = ring.max(by: { $0.longitude < $1.longitude }) else {
            return nil
        }
        // The first corner is the westernmost.
        west = projection.x(longitude: first.longitude)
        let width = projection.x(longitude: easternmost.longitude) - west
        guard width > 8 * Self.tolerance else { return nil }
        scale = Double(Self.columns) / width
        var walk = EdgeWalk(ring)
        var southern: [SIMD2<Double>] = []
        // Each column's edges, moved outwards: two cuts per edge, from west to east.
        for column in 0...Self.columns {
            for side in [-Self.tolerance, Self.tolerance] {
                let x = west + Double(column) / scale + side
                southern.append(walk.interval(at: projection.longitude(x: x)))
            }
        }
        intervals = (0..<Self.columns).map { column in
            // The western edge is moved west, the eastern one east.
            let (near, far) = (southern[2 * column], southern[2 * column + 3])
            let (south, north) = (max(near.x, far.x), min(near.y, far.y))
            guard south < north else { return SIMD2(1, 0) }
            return SIMD2(
                projection.y(latitude: north) + Self.tolerance, projection.y(latitude: south) - Self.tolerance
            )
        }
    }

    /// Whether a point at about this position in the unit square is certainly inside.
    @inline(__always) func holds(_ x: Double, _ y: Double) -> Bool {
        let column = (x - west) * scale
        guard column >= 0, column < Double(Self.columns) else { return false }
        let interval = intervals[Int(column)]
        return y > interval.x && y < interval.y
    }
}

/// Walks along a convex ring's lower and upper edges from west to east.
private struct EdgeWalk {
    /// Corners from the westernmost to the easternmost: along the south, then along the north.
    private let southern: [Position]
    private let northern: [Position]
    private var south = 0
    private var north = 0

    init(_ ring: [Position]) {
        var east = 0
        for (place, corner) in ring.enumerated() where corner.longitude > ring[east].longitude {
            east = place
        }
        // If the eastern side is vertical, its southern end comes first; the northern walk starts at the other end.
        southern = Array(ring[...east])
        northern = ring[east...].reversed()
    }

    /// The interval of latitudes inside the ring at a longitude; empty outside the ring. The longitude must not
    /// be west of that of the previous call.
    mutating func interval(at longitude: Double) -> SIMD2<Double> {
        guard let first = southern.first, let last = southern.last, longitude > first.longitude,
            longitude < last.longitude
        else { return SIMD2(1, -1) }
        return SIMD2(
            Self.latitude(at: longitude, southern, &south), Self.latitude(at: longitude, northern, &north))
    }

    private static func latitude(at longitude: Double, _ chain: [Position], _ place: inout Int) -> Double {
        while place + 2 < chain.count, chain[place + 1].longitude < longitude { place += 1 }
        let (from, to) = (chain[place], chain[place + 1])
        let width = to.longitude - from.longitude
        guard width > 0 else { return max(from.latitude, to.latitude) }
        return from.latitude + (to.latitude - from.latitude) * ((longitude - from.longitude) / width)
    }
}
