// SPDX-License-Identifier: MIT

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

    /// Whether a position is inside or on the edge.
    @inlinable public func contains(x: Double, y: Double) -> Bool {
        x >= minimumX && x <= maximumX && y >= minimumY && y <= maximumY
    }
}
