// SPDX-License-Identifier: MIT

/// A rectangle of a level that is clustered apart from the rest, with the nodes around it that may have an influence.
public struct LevelPart: Sendable, Equatable {
    /// The rectangle: its west and north edges belong to it, the others do not, unless they are the unit square's.
    public var west: Double
    public var north: Double
    public var east: Double
    public var south: Double
    /// How far around it nodes are known.
    public var margin: Double

    public init(west: Double, north: Double, east: Double, south: Double, margin: Double) {
        (self.west, self.north, self.east, self.south, self.margin) = (west, north, east, south, margin)
    }

    /// Whether the part decides what becomes of a node here.
    public func owns(x: Double, y: Double) -> Bool {
        x >= west && y >= north && (x < east || east >= 1) && (y < south || south >= 1)
    }

    /// Whether the part has to know a node here.
    public func knows(x: Double, y: Double) -> Bool {
        x >= west - margin && x <= east + margin && y >= north - margin && y <= south + margin
    }

    /// The margin within which nearly all chains end if the order is unrelated to place: eight radii of the zoom at
    /// which they are largest.
    public static func margin(_ options: ClusteringOptions, zooms: ClosedRange<Int>) -> Double {
        let slack = options.precision == .float ? Float.roundingSlack : Double.roundingSlack
        return 8 * (zooms.map { options.unitRadius(at: $0) + 4 * slack }.max() ?? 0)
    }
}
