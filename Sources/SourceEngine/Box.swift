// SPDX-License-Identifier: MIT

/// A box in degrees. It may be wider than the world, wrapped around it, or cross the antimeridian.
public struct Box: Sendable, Equatable {
    public var west: Double
    public var south: Double
    public var east: Double
    public var north: Double

    public init(west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// The whole world.
    public static let world = Box(west: -180, south: -90, east: 180, north: 90)

    /// The empty extent, to be widened point by point.
    package static let nowhere = Box(west: .infinity, south: .infinity, east: -.infinity, north: -.infinity)

    /// Widens the box to contain a location, ignoring the antimeridian.
    package mutating func include(_ place: (longitude: Double, latitude: Double)) {
        west = min(west, place.longitude)
        south = min(south, place.latitude)
        east = max(east, place.longitude)
        north = max(north, place.latitude)
    }
}
