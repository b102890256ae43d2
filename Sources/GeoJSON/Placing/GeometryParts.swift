// SPDX-License-Identifier: MIT

/// A geometry's parts by dimension, those of collections one after another.
struct GeometryParts {
    var points: [GeometryPosition] = []
    /// Each has two positions or more.
    var lines: [[GeometryPosition]] = []
    /// Each is a shell and its holes: closed rings of four positions or more.
    var areas: [[[GeometryPosition]]] = []

    /// The point that represents the geometry; nil if it has no position.
    func position(_ placing: GeometryPlacing) -> GeometryPosition? {
        switch placing {
        case .inside: InteriorPoint.of(self)
        default: Centroid.of(self)
        }
    }
}

/// A position of a geometry in degrees.
struct GeometryPosition: Equatable {
    var longitude: Double
    var latitude: Double

    func distance(to other: GeometryPosition) -> Double {
        let (x, y) = (longitude - other.longitude, latitude - other.latitude)
        return (x * x + y * y).squareRoot()
    }
}

/// Which geometries a source accepts, and which point represents each.
public enum GeometryPlacing: String, Sendable, CaseIterable {
    /// Points only.
    case point
    /// Points, and each position of a MultiPoint.
    case multipoint
    /// As `multipoint`; any other geometry is placed at its centroid.
    case centroid
    /// As `multipoint`; any other geometry is placed at a position on it, for an area well inside it.
    case inside
}

/// The centroid of a geometry as in GEOS and PostGIS: of its areas if they cover anything, else of its lines
/// if they have a length, else of its points. In the plane of longitude and latitude.
///
/// Source: the algorithm of GEOS, `geos::algorithm::Centroid`: an area is the sum of the triangles that its
/// edges make with the first position of its shell, with signs. A separate base for each shell keeps the
/// rounding errors of one area out of another that is far away and small.
struct Centroid {
    private var areaSum = (x: 0.0, y: 0.0)
    /// Twice the area.
    private var doubleArea = 0.0
    private var lineSum = (x: 0.0, y: 0.0)
    private var length = 0.0
    private var pointSum = (x: 0.0, y: 0.0)
    private var pointCount = 0.0

    /// - Complexity: O(positions).
    static func of(_ parts: GeometryParts) -> GeometryPosition? {
        var centroid = Centroid()
        for area in parts.areas {
            guard let base = area.first?.first else { continue }
            for (index, ring) in area.enumerated() { centroid.add(ring, base: base, isHole: index > 0) }
        }
        for line in parts.lines { centroid.add(line: line) }
        for point in parts.points { centroid.add(point) }
        return centroid.position
    }

    private var position: GeometryPosition? {
        if abs(doubleArea) > 0 {
            return GeometryPosition(longitude: areaSum.x / 3 / doubleArea, latitude: areaSum.y / 3 / doubleArea)
        }
        if length > 0 { return GeometryPosition(longitude: lineSum.x / length, latitude: lineSum.y / length) }
        guard pointCount > 0 else { return nil }
        return GeometryPosition(longitude: pointSum.x / pointCount, latitude: pointSum.y / pointCount)
    }

    private mutating func add(_ ring: [GeometryPosition], base: GeometryPosition, isHole: Bool) {
        let isPositive = RingOrientation.isCounterClockwise(ring) == isHole
        for (from, to) in zip(ring, ring.dropFirst()) { add(base, from, to, sign: isPositive ? 1 : -1) }
        add(line: ring)
    }

    private mutating func add(_ a: GeometryPosition, _ b: GeometryPosition, _ c: GeometryPosition, sign: Double) {
        let area =
            sign
            * ((b.longitude - a.longitude) * (c.latitude - a.latitude)
                - (c.longitude - a.longitude) * (b.latitude - a.latitude))
        areaSum.x += area * (a.longitude + b.longitude + c.longitude)
        areaSum.y += area * (a.latitude + b.latitude + c.latitude)
        doubleArea += area
    }

    private mutating func add(line: [GeometryPosition]) {
        var added = 0.0
        for (from, to) in zip(line, line.dropFirst()) {
            let segment = from.distance(to: to)
            guard segment > 0 else { continue }
            added += segment
            lineSum.x += segment * (from.longitude + to.longitude) / 2
            lineSum.y += segment * (from.latitude + to.latitude) / 2
        }
        length += added
        if added == 0, let first = line.first { add(first) }
    }

    private mutating func add(_ point: GeometryPosition) {
        pointSum.x += point.longitude
        pointSum.y += point.latitude
        pointCount += 1
    }
}
