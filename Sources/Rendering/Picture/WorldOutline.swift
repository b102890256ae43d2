// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// The land and the borders of the world, in Web Mercator's unit square: Natural Earth's outline at 1:110
/// million, which is in the public domain.
struct WorldOutline: Sendable {
    /// Polygons of one or more rings.
    let land: [[[UnitPoint]]]
    /// The edges of land, except those where the outline is cut, along the antimeridian and at the south pole.
    let coasts: [[UnitPoint]]
    let borders: [[UnitPoint]]

    /// A position in the unit square, x to the east and y to the south.
    struct UnitPoint: Sendable {
        let x, y: Double
    }

    /// The outline built into the program; parsed at its first use, in about 10 ms.
    static let shared = WorldOutline(geoJSON: embeddedText)

    /// Reads features with the property `kind`: `land` is a MultiPolygon, `borders` a MultiLineString. Others
    /// are ignored.
    init(geoJSON: [UInt8]) {
        var land: [[[UnitPoint]]] = []
        var coasts: [[UnitPoint]] = []
        var borders: [[UnitPoint]] = []
        let features = (try? JSONReader.parse(geoJSON))?["features"]?.asArray ?? []
        for feature in features {
            let parts = feature["geometry"]?["coordinates"]?.asArray ?? []
            switch feature["properties"]?["kind"]?.asString {
            case "land":
                for part in parts {
                    let rings = (part.asArray ?? []).map(\.asPositions)
                    land.append(rings.map { $0.map(Self.projected) })
                    coasts += rings.flatMap(Self.coasts).map { $0.map(Self.projected) }
                }
            case "borders": borders += parts.map { $0.asPositions.map(Self.projected) }
            default: continue
            }
        }
        (self.land, self.coasts, self.borders) = (land, coasts, borders)
    }

    private typealias Position = (longitude: Double, latitude: Double)

    private static func projected(_ position: Position) -> UnitPoint {
        UnitPoint(x: Mercator.x(position.longitude), y: Mercator.y(position.latitude))
    }

    /// The parts of a ring between its cut edges.
    private static func coasts(_ ring: [Position]) -> [[Position]] {
        var lines: [[Position]] = []
        for (start, end) in zip(ring, ring.dropFirst()) where !isCut(start, end) {
            if let last = lines.last?.last, last == start {
                lines[lines.count - 1].append(end)
            } else {
                lines.append([start, end])
            }
        }
        return lines
    }

    private static func isCut(_ start: Position, _ end: Position) -> Bool {
        abs(start.longitude) > 179.9 && abs(end.longitude) > 179.9 || min(start.latitude, end.latitude) < -89
    }
}

/// Draws what is below a map's markers: land, borders and the graticule.
struct WorldPainter {
    let frame: PictureFrame

    /// Points closer than this to the previous one, in pixels, are left out: they are invisible and make files large.
    private static let detail = 0.4

    func paint(_ graticule: Graticule, on canvas: PictureCanvas) {
        if frame.projection.wraps {
            paintOutline(on: canvas)
        } else {
            canvas.fill(frame.worldArea, colour: MarkerStyle.land)
        }
        let area = frame.worldArea
        let meridians = graticule.meridians.map {
            [PixelPoint(x: $0.position, y: area.top), PixelPoint(x: $0.position, y: area.bottom)]
        }
        let parallels = graticule.parallels.map {
            [PixelPoint(x: area.left, y: $0.position), PixelPoint(x: area.right, y: $0.position)]
        }
        canvas.stroke(meridians + parallels, width: 0.75, colour: MarkerStyle.graticule, opacity: 0.8)
    }

    private func paintOutline(on canvas: PictureCanvas) {
        canvas.inside(frame.worldArea) {
            let shift = frame.worldArea.left
            let world = WorldOutline.shared
            // The world repeats to its east and west.
            for copy in [-1.0, 0, 1] {
                func pixels(_ line: [WorldOutline.UnitPoint]) -> [PixelPoint] {
                    thinned(line.map { frame.pixel(x: $0.x + copy, y: $0.y) }, shift)
                }
                for rings in world.land { canvas.fill(rings.map(pixels), colour: MarkerStyle.land) }
                canvas.stroke(world.borders.map(pixels), width: 0.75, colour: MarkerStyle.border)
                canvas.stroke(world.coasts.map(pixels), width: 0.75, colour: MarkerStyle.coast)
            }
        }
    }

    /// The line in pixels from `left`, without needless points; empty if no part of it can be seen.
    private func thinned(_ line: [PixelPoint], _ left: Double) -> [PixelPoint] {
        let (xs, ys) = (line.map(\.x), line.map(\.y))
        guard let west = xs.min(), let east = xs.max(), let north = ys.min(), let south = ys.max(),
            east > left,
            west < frame.worldArea.right, south > 0, north < Double(frame.height)
        else { return [] }
        var kept: [PixelPoint] = []
        for (index, point) in line.enumerated() {
            if let last = kept.last, index < line.count - 1,
                abs(point.x - left - last.x) + abs(point.y - last.y) < Self.detail
            {
                continue
            }
            kept.append(PixelPoint(x: point.x - left, y: point.y))
        }
        return kept
    }
}
