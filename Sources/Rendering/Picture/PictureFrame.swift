// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON

/// The part of the world that a picture shows, and the mapping of positions to its pixels.
public struct PictureFrame: Equatable, Sendable {
    /// The size in pixels.
    let width, height: Int
    /// The middle, in the world's unit square; x may be outside it.
    let centreX, centreY: Double
    /// The width of the unit square in pixels.
    let worldSide: Double
    var projection = MapProjection.mercator

    /// The map zoom at which the world has this size.
    public var zoom: Double { max(0, log2(worldSide / Mercator.tileSide)) }

    /// The visible part of the world: its full width if the frame is wider than the world.
    public var box: BoundingBox {
        let (halfWidth, halfHeight) = (Double(width) / worldSide / 2, Double(height) / worldSide / 2)
        let south = projection.latitude(min(centreY + halfHeight, projection.extent.y))
        let north = projection.latitude(max(centreY - halfHeight, 0))
        guard projection.wraps else {
            return BoundingBox(
                west: projection.longitude(max(centreX - halfWidth, 0)), south: south,
                east: projection.longitude(min(centreX + halfWidth, projection.extent.x)), north: north)
        }
        guard halfWidth < 0.5 else { return BoundingBox(west: -180, south: south, east: 180, north: north) }
        return BoundingBox(
            west: Self.wrapped(Mercator.longitude(centreX - halfWidth)), south: south,
            east: Self.wrapped(Mercator.longitude(centreX + halfWidth)), north: north)
    }

    private static func wrapped(_ longitude: Double) -> Double {
        let rest = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return (rest < 0 ? rest + 360 : rest) - 180
    }

    /// All of the frame.
    var area: PixelBox { PixelBox(left: 0, top: 0, width: Double(width), height: Double(height)) }

    /// The part of the frame that the world, once around, or the plane fills.
    var worldArea: PixelBox {
        guard !projection.wraps else {
            let shown = min(Double(width), worldSide)
            return PixelBox(left: (Double(width) - shown) / 2, top: 0, width: shown, height: Double(height))
        }
        let (start, end) = (pixel(x: 0, y: 0), pixel(x: projection.extent.x, y: projection.extent.y))
        let (left, top) = (min(max(start.x, 0), Double(width)), min(max(start.y, 0), Double(height)))
        return PixelBox(
            left: left, top: top, width: max(0, min(end.x, Double(width)) - left),
            height: max(0, min(end.y, Double(height)) - top))
    }

    /// The pixel of a position: of its repetitions around the world, the one nearest to the middle.
    func pixel(longitude: Double, latitude: Double) -> PixelPoint {
        let x = projection.x(longitude)
        return pixel(x: projection.wraps ? x + (centreX - x).rounded() : x, y: projection.y(latitude))
    }

    /// The pixel of a position in the world's unit square.
    func pixel(x: Double, y: Double) -> PixelPoint {
        PixelPoint(x: (x - centreX) * worldSide + Double(width) / 2, y: (y - centreY) * worldSide + Double(height) / 2)
    }

    /// The pixels of a line or ring, which stays connected where it crosses the antimeridian.
    func pixels(_ positions: [(longitude: Double, latitude: Double)]) -> [PixelPoint] {
        guard projection.wraps else {
            return positions.map { pixel(longitude: $0.longitude, latitude: $0.latitude) }
        }
        guard let first = positions.first else { return [] }
        let start = pixel(longitude: first.longitude, latitude: first.latitude)
        var longitude = first.longitude
        var x = start.x
        return positions.map { position in
            var step = position.longitude - longitude
            if step > 180 { step -= 360 }
            if step < -180 { step += 360 }
            longitude = position.longitude
            x += step / 360 * worldSide
            return PixelPoint(x: x, y: pixel(x: 0, y: Mercator.y(position.latitude)).y)
        }
    }
}

extension PictureFrame {
    /// A frame that shows a box completely, in the middle.
    init(showing box: BoundingBox, width: Int, height: Int, projection: MapProjection = .mercator) {
        let west = projection.x(box.west)
        var east = projection.x(box.east)
        if east < west { east += 1 }
        let (north, south) = (projection.y(box.north), projection.y(box.south))
        // A box without width or height is a single position, which is shown at the deepest zoom.
        let smallest = 1 / (Mercator.tileSide * 0x1p22)
        self.init(
            width: width, height: height, centreX: (west + east) / 2, centreY: (north + south) / 2,
            worldSide: min(Double(width) / max(east - west, smallest), Double(height) / max(south - north, smallest)),
            projection: projection)
    }
}

/// Maps positions to the unit square, x to the east and y to the south: those of the world in Web Mercator,
/// or those of a plane in its own units, whose longer side becomes 1.
public enum MapProjection: Equatable, Sendable {
    case mercator
    case planar(BoundingBox)

    /// The projection of a source with these options.
    public init(options: JSONObject) {
        let plane = BoundingBox(options["projection"]?["planar"])
        self = plane.flatMap { $0.east > $0.west && $0.north > $0.south ? .planar($0) : nil } ?? .mercator
    }

    /// The plane; nil for the world.
    public var plane: BoundingBox? { if case .planar(let plane) = self { plane } else { nil } }

    /// Whether the east edge is joined to the west edge.
    var wraps: Bool { self == .mercator }

    /// What a map shows by default: the plane, or the world from 75° S to 82° N.
    public var standardBox: BoundingBox {
        plane ?? BoundingBox(west: -180, south: -75, east: 180, north: 82)
    }

    private static func side(of plane: BoundingBox) -> Double {
        max(plane.east - plane.west, plane.north - plane.south)
    }

    func x(_ longitude: Double) -> Double {
        guard let plane else { return Mercator.x(longitude) }
        return (longitude - plane.west) / Self.side(of: plane)
    }

    func y(_ latitude: Double) -> Double {
        guard let plane else { return Mercator.y(latitude) }
        return (plane.north - latitude) / Self.side(of: plane)
    }

    func longitude(_ x: Double) -> Double {
        guard let plane else { return Mercator.longitude(x) }
        return plane.west + x * Self.side(of: plane)
    }

    func latitude(_ y: Double) -> Double {
        guard let plane else { return Mercator.latitude(y) }
        return plane.north - y * Self.side(of: plane)
    }

    /// The fractions of the unit square's width and height that it fills.
    var extent: (x: Double, y: Double) {
        guard let plane else { return (1, 1) }
        return ((plane.east - plane.west) / Self.side(of: plane), (plane.north - plane.south) / Self.side(of: plane))
    }
}

/// The Web Mercator projection onto the unit square, x to the east and y to the south.
enum Mercator {
    static func x(_ longitude: Double) -> Double { longitude / 360 + 0.5 }

    static func y(_ latitude: Double) -> Double {
        let sine = sin(latitude * .pi / 180)
        let y = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / .pi
        return min(max(y, 0), 1)
    }

    static func longitude(_ x: Double) -> Double { (x - 0.5) * 360 }

    static func latitude(_ y: Double) -> Double { 360 * atan(exp((180 - y * 360) * .pi / 180)) / .pi - 90 }

    /// The side of a tile in pixels, which is the world's at zoom 0.
    static let tileSide = 512.0
}
