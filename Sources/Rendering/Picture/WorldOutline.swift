// SPDX-License-Identifier: MIT
import CWorldOutline
import ClusterClient
import JSON

/// The land and the borders of the world, in Web Mercator's unit square: Natural Earth's outline at 1:110 million,
/// which is in the public domain.
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
    static let shared = WorldOutline(
        geoJSON: UnsafeRawBufferPointer(start: world_outline_bytes(), count: world_outline_size()))

    /// Reads features with the property `kind`: `land` is a MultiPolygon, `borders` a MultiLineString. Others are
    /// ignored.
    init(geoJSON: UnsafeRawBufferPointer) {
        var land: [[[UnitPoint]]] = []
        var coasts: [[UnitPoint]] = []
        var borders: [[UnitPoint]] = []
        let features = (try? JSONReader.parse(geoJSON))?["features"]?.asArray ?? []
        for feature in features {
            let parts = feature["geometry"]?["coordinates"]?.asArray ?? []
            switch feature["properties"]?["kind"]?.asString {
            case "land":
                for part in parts {
                    let rings = (part.asArray ?? []).map(Self.positions)
                    land.append(rings.map { $0.map(Self.projected) })
                    coasts += rings.flatMap(Self.coasts).map { $0.map(Self.projected) }
                }
            case "borders": borders += parts.map { Self.positions($0).map(Self.projected) }
            default: continue
            }
        }
        (self.land, self.coasts, self.borders) = (land, coasts, borders)
    }

    private typealias Position = (longitude: Double, latitude: Double)

    private static func positions(_ list: JSONValue) -> [Position] {
        (list.asArray ?? []).compactMap { position in
            guard let position = position.asArray, position.count >= 2, let longitude = position[0].asNumber,
                let latitude = position[1].asNumber
            else { return nil }
            return (longitude, latitude)
        }
    }

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
