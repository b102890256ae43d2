// SPDX-License-Identifier: MIT

/// The radius at one zoom, and what is needed to compare with it exactly and fast.
struct LevelRadius<Scalar: Coordinate> {
    let squared: Double
    /// No neighbour is further than this along one axis, rounding included.
    let reach: Scalar
    let reachSquared: Scalar
    /// The least height of a row whose neighbours lie in the rows beside it.
    let rowHeight: Double
    let unit: Double

    init(_ radius: Double) {
        unit = radius
        squared = radius * radius
        let slack = radius + Scalar.roundingSlack
        reach = Scalar(slack).nextUp
        reachSquared = (reach * reach * (1 + 1e-5)).nextUp
        rowHeight = max(slack * (1 + 1e-9), 0x1p-30)
    }
}

/// Every node's exact place: points as they were rounded, clusters in 64 bits.
struct Centers<Scalar: Coordinate> {
    let pointCount: UInt32
    let x: UnsafePointer<Double>
    let y: UnsafePointer<Double>

    /// Whether `claimant` reaches `other`, by supercluster's own comparison: the claimant's exact centre
    /// with the other's rounded one.
    @inline(__always) func reaches(
        _ claimant: LevelEntry<Scalar>, _ other: LevelEntry<Scalar>, _ radius: LevelRadius<Scalar>
    ) -> Bool {
        let near = other.x - claimant.x
        let down = other.y - claimant.y
        if near * near + down * down > radius.reachSquared { return false }
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
