// SPDX-License-Identifier: MIT

/// A position on a geometry, as in `ST_PointOnSurface` of PostGIS and `interiorPoint` of GEOS.
///
/// For areas: the middle of the widest part inside of a line of latitude that crosses the area about half-way up and
/// meets no corner. For lines: the inner position nearest to the centroid, or an end if there is none. For points: the
/// one nearest to the centroid. Source: `InteriorPointArea`, `InteriorPointLine`, `InteriorPointPoint` of JTS.
enum InteriorPoint {
    /// - Complexity: O(positions), plus sorting the crossings of one line.
    static func of(_ parts: GeometryParts) -> GeometryPosition? {
        if !parts.areas.isEmpty { return inside(parts.areas) }
        guard let centroid = Centroid.of(parts) else { return nil }
        guard !parts.lines.isEmpty else { return nearest(parts.points, to: centroid) }
        return nearest(parts.lines.flatMap { $0.dropFirst().dropLast() }, to: centroid)
            ?? nearest(parts.lines.flatMap { [$0[0], $0[$0.count - 1]] }, to: centroid)
    }

    private static func nearest(_ positions: [GeometryPosition], to centre: GeometryPosition) -> GeometryPosition? {
        var (best, least) = (GeometryPosition?.none, Double.infinity)
        for position in positions {
            let distance = position.distance(to: centre)
            if distance < least { (best, least) = (position, distance) }
        }
        return best
    }

    private static func inside(_ areas: [[[GeometryPosition]]]) -> GeometryPosition? {
        var (best, widest) = (GeometryPosition?.none, -1.0)
        for area in areas {
            guard let (position, width) = inside(area), width > widest else { continue }
            (best, widest) = (position, width)
        }
        return best
    }

    private static func inside(_ area: [[GeometryPosition]]) -> (GeometryPosition, width: Double)? {
        guard let first = area.first?.first else { return nil }
        let latitude = scanLatitude(area)
        var crossings: [Double] = []
        for ring in area {
            for (from, to) in zip(ring, ring.dropFirst()) where crosses(from, to, latitude) {
                crossings.append(longitude(from, to, at: latitude))
            }
        }
        crossings.sort()
        // For an area without extent any position will do.
        var (best, widest) = (first, 0.0)
        for start in stride(from: 0, to: crossings.count - 1, by: 2) {
            let (west, east) = (crossings[start], crossings[start + 1])
            guard east - west > widest else { continue }
            widest = east - west
            best = GeometryPosition(longitude: (west + east) / 2, latitude: latitude)
        }
        return (best, widest)
    }

    /// Half-way between the corners next above and below the middle, so that the line meets none.
    private static func scanLatitude(_ area: [[GeometryPosition]]) -> Double {
        var (low, high) = (Double.infinity, -Double.infinity)
        for position in area.first ?? [] {
            low = min(low, position.latitude)
            high = max(high, position.latitude)
        }
        let middle = (low + high) / 2
        for ring in area {
            for position in ring {
                if position.latitude <= middle {
                    low = max(low, position.latitude)
                } else {
                    high = min(high, position.latitude)
                }
            }
        }
        return (low + high) / 2
    }

    /// Whether an edge crosses a latitude; one that touches it counts if it comes from above.
    private static func crosses(_ from: GeometryPosition, _ to: GeometryPosition, _ latitude: Double) -> Bool {
        if from.latitude == to.latitude { return false }
        return min(from.latitude, to.latitude) <= latitude && max(from.latitude, to.latitude) > latitude
    }

    private static func longitude(_ from: GeometryPosition, _ to: GeometryPosition, at latitude: Double) -> Double {
        if from.longitude == to.longitude { return from.longitude }
        let slope = (to.latitude - from.latitude) / (to.longitude - from.longitude)
        return from.longitude + (latitude - from.latitude) / slope
    }
}
