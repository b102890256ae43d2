// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON

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
    public var whole: BoundingBox {
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
        return (
            (plane.east - plane.west) / Self.side(of: plane),
            (plane.north - plane.south) / Self.side(of: plane)
        )
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
