// SPDX-License-Identifier: MIT
import JSON

/// A box in degrees. If `west` is greater than `east`, the box crosses the antimeridian.
public struct BoundingBox: Sendable, Equatable {
    public var west, south, east, north: Double

    public init(west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    public static let world = BoundingBox(west: -180, south: -90, east: 180, north: 90)

    package var json: JSONValue { .array([west, south, east, north].map(JSONValue.number)) }
}
