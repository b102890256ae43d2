// SPDX-License-Identifier: MIT

/// A rectangle of the unit square.
public struct LevelRectangle: BitwiseCopyable, Sendable, Equatable {
    public var west: Double
    public var north: Double
    public var east: Double
    public var south: Double

    public init(west: Double, north: Double, east: Double, south: Double) {
        (self.west, self.north, self.east, self.south) = (west, north, east, south)
    }

    public static let all = LevelRectangle(west: 0, north: 0, east: 1, south: 1)
}

/// A rectangle of a level that is clustered apart from the rest, with the nodes around it that may have an influence.
public struct LevelPart: Sendable, Equatable {
    /// What the part decides: the west and north edges belong to it, the others do not, unless they are the unit square's.
    public var area: LevelRectangle
    /// How far around it nodes are known.
    public var margin: Double
    /// Where around it nodes are not known nevertheless.
    public var holes: [LevelRectangle]

    public init(_ area: LevelRectangle, margin: Double, holes: [LevelRectangle] = []) {
        (self.area, self.margin, self.holes) = (area, margin, holes)
    }

    /// Whether the part decides what becomes of a node here, if it can.
    public func owns(x: Double, y: Double) -> Bool {
        x >= area.west && y >= area.north && (x < area.east || area.east >= 1) && (y < area.south || area.south >= 1)
    }

    /// Whether an area is, at least in part, within the margin.
    public func touches(_ other: LevelRectangle) -> Bool {
        other.west <= area.east + margin && other.east >= area.west - margin && other.north <= area.south + margin
            && other.south >= area.north - margin
    }

    /// The margin within which nearly all chains end if the order is unrelated to place: eight radii of the zoom at
    /// which they are largest.
    public static func margin(_ options: ClusteringOptions, zooms: ClosedRange<Int>) -> Double {
        let slack = options.precision == .float ? Float.roundingSlack : Double.roundingSlack
        return 8 * (zooms.map { options.unitRadius(at: $0) + 4 * slack }.max() ?? 0)
    }
}
