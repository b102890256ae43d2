// SPDX-License-Identifier: MIT
import Glibc

/// Maps coordinates to positions in the unit square, whose origin is the north-west corner.
///
/// In either projection, "longitude" and "latitude" denote a point's first and second coordinate.
public enum Projection: Sendable, Equatable {
    /// Spherical Mercator of degrees.
    case mercator
    /// A plane in its own units. The longer side of the box spans the unit square; y grows to the north.
    case planar(PlanarBox)

    /// Whether the east edge of the world coincides with its west edge.
    @inlinable public var isRound: Bool { self == .mercator }

    @inlinable public func x(longitude: Double) -> Double {
        switch self {
        case .mercator: Mercator.x(longitude: longitude)
        case .planar(let box): (longitude - box.minimumX) / box.side
        }
    }

    @inlinable public func y(latitude: Double) -> Double {
        switch self {
        case .mercator: Mercator.y(latitude: latitude)
        case .planar(let box): (box.maximumY - latitude) / box.side
        }
    }

    @inlinable public func longitude(x: Double) -> Double {
        switch self {
        case .mercator: Mercator.longitude(x: x)
        case .planar(let box): box.minimumX + x * box.side
        }
    }

    /// The latitude of a vertical position. Costs two transcendental functions for Mercator.
    @inlinable public func latitude(y: Double) -> Double {
        switch self {
        case .mercator: Mercator.latitude(y: y)
        case .planar(let box): box.maximumY - y * box.side
        }
    }

    /// The range of coordinates that points can have.
    public var domain: (west: Double, south: Double, east: Double, north: Double) {
        switch self {
        case .mercator: (-180, -90, 180, 90)
        case .planar(let box): (box.minimumX, box.minimumY, box.maximumX, box.maximumY)
        }
    }
}

/// Spherical Mercator: maps longitude and latitude in degrees to a unit square with its origin in the north-west.
/// It uses supercluster's order of operations, so that results agree to the last bit.
public enum Mercator {
    /// The horizontal position of a longitude: 0 at -180, 1 at +180.
    @inlinable public static func x(longitude: Double) -> Double { longitude / 360 + 0.5 }

    /// The vertical position of a latitude, clamped to 0 (north) to 1 (south) near the poles.
    @inlinable public static func y(latitude: Double) -> Double {
        let sine = sin(latitude * Double.pi / 180)
        let y = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / Double.pi
        return y < 0 ? 0 : y > 1 ? 1 : y
    }

    @inlinable public static func longitude(x: Double) -> Double { (x - 0.5) * 360 }

    @inlinable public static func latitude(y: Double) -> Double {
        let angle = (180 - y * 360) * Double.pi / 180
        return 360 * atan(exp(angle)) / Double.pi - 90
    }
}

/// The extent of a plane that is not the Earth, such as an image, a game's world or a floor plan, in its own units.
public struct PlanarBox: Sendable, Equatable {
    public let minimumX: Double
    public let minimumY: Double
    public let maximumX: Double
    public let maximumY: Double
    /// The length of the longer side, which one tile covers at zoom 0.
    public let side: Double

    /// Nil unless all numbers are finite, both minimums are less than their maximums, and the sides are finite too.
    public init?(minimumX: Double, minimumY: Double, maximumX: Double, maximumY: Double) {
        let (width, height) = (maximumX - minimumX, maximumY - minimumY)
        guard [minimumX, minimumY, maximumX, maximumY, width, height].allSatisfy(\.isFinite), width > 0,
            height > 0
        else { return nil }
        self.minimumX = minimumX
        self.minimumY = minimumY
        self.maximumX = maximumX
        self.maximumY = maximumY
        side = max(width, height)
    }
}
