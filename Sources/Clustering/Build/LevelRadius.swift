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
    /// The least height of a row whose neighbours lie in the rows beside it.
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

/// Every cluster's exact place.
struct Centers<Scalar: Coordinate> {
    let pointCount: UInt32
    let x: UnsafePointer<Double>
    let y: UnsafePointer<Double>

    /// Whether `claimant` reaches `other`, by supercluster's own comparison: the claimant's exact centre
    /// with the other's rounded one.
    @inline(__always) func reaches(
        _ claimant: LevelEntry<Scalar>, _ other: LevelEntry<Scalar>, _ radius: LevelRadius<Scalar>
    ) -> Bool {
        let dx = other.x - claimant.x
        let dy = other.y - claimant.y
        let squared = dx * dx + dy * dy
        return squared <= radius.reachSquared && reaches(claimant, other, squared, radius)
    }

    /// The same where the rounded places' squared distance is known and not beyond `reachSquared`: only
    /// what that leaves open needs the exact centre.
    @inline(__always) func reaches(
        _ claimant: LevelEntry<Scalar>, _ other: LevelEntry<Scalar>, _ squared: Scalar,
        _ radius: LevelRadius<Scalar>
    ) -> Bool {
        if squared < radius.innerSquared { return true }
        var (x, y) = (Double(claimant.x), Double(claimant.y))
        if claimant.node >= pointCount {
            x = self.x[Int(claimant.node &- pointCount)]
            y = self.y[Int(claimant.node &- pointCount)]
        }
        let dx = Double(other.x) - x
        let dy = Double(other.y) - y
        return dx * dx + dy * dy <= radius.squared
    }
}
