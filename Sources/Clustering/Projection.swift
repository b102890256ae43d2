// SPDX-License-Identifier: MIT

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
