// SPDX-License-Identifier: MIT

/// The radius at one zoom, and what is needed to compare with it exactly and fast.
struct LevelRadius<Scalar: Coordinate> {
    let squared: Double
    /// No neighbour is further than this along one axis, rounding included.
    let reach: Scalar
    /// A distance whose square, in `Scalar`'s arithmetic, is above this is beyond the radius for certain.
    let reachSquared: Scalar
    /// And one below this is within it.
    let innerSquared: Scalar
    /// The least height of a row whose neighbours lie in the rows next to it.
    let rowHeight: Double
    let unit: Double

    init(_ radius: Double) {
        unit = radius
        squared = radius * radius
        let outer = radius + Scalar.roundingSlack
        reach = Scalar(outer).nextUp
        reachSquared = (reach * reach * (1 + 1e-5)).nextUp
        let inner = radius - Scalar.roundingSlack
        innerSquared = inner > 0 ? (Scalar(inner) * Scalar(inner) * (1 - 1e-5)).nextDown : -1
        rowHeight = max(outer * (1 + 1e-9), 0x1p-30)
    }
}
