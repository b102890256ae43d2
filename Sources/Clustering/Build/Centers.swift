// SPDX-License-Identifier: MIT

/// Every cluster's exact centre.
struct Centers<Scalar: Coordinate> {
    let pointCount: UInt32
    let x: UnsafePointer<Double>
    let y: UnsafePointer<Double>

    /// Whether `claimant` reaches `other`, by supercluster's own comparison: the claimant's exact centre against
    /// the other's rounded one.
    @inline(__always) func reaches(
        _ claimant: LevelEntry<Scalar>, _ other: LevelEntry<Scalar>, _ radius: LevelRadius<Scalar>
    ) -> Bool {
        let dx = other.x - claimant.x
        let dy = other.y - claimant.y
        let squared = dx * dx + dy * dy
        return squared <= radius.reachSquared && reaches(claimant, other, squared, radius)
    }

    /// The same, given the squared distance between the rounded positions, which must not exceed `reachSquared`.
    /// The exact centre is used only if that distance does not decide.
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
