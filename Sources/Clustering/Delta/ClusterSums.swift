// SPDX-License-Identifier: MIT
import SystemSupport

/// The sums over the members of planned clusters, computed as `ClusterFormer` does: in order, the origin first.
struct ClusterSums {
    struct Sum {
        var x = 0.0
        var y = 0.0
        var weight = 0.0
        var count: UInt32 = 0
    }

    /// The sums, by plan.
    let all: [Sum]

    /// - Parameter positions: a cache of point positions for each thread.
    init<Scalar: Coordinate>(
        _ outcome: LevelOutcome, _ layers: LayeredIndex, _ positions: [PointPositionCache<Scalar>],
        _ parallel: Parallel
    ) {
        let plans = outcome.plans
        let count = parallel.shares(of: plans.count, perThread: 4)
        let parts = parallel.map(count) { number, thread in
            let (start, end) = Parallel.bounds(number, of: count, count: plans.count)
            return plans[start..<end].map { plan in
                Self.sum(outcome.members[plan.start..<plan.start + plan.count], layers, positions[thread])
            }
        }
        all = parts.count == 1 ? parts[0] : Array(parts.joined())
    }

    private static func sum<Scalar: Coordinate>(
        _ members: ArraySlice<NodeKey>, _ layers: LayeredIndex, _ positions: PointPositionCache<Scalar>
    ) -> Sum {
        var sum = Sum()
        for member in members {
            let (x, y) = layers.exact(member, positions)
            let share = layers.weight(of: member)
            sum.x += x * share
            sum.y += y * share
            sum.weight += share
            sum.count &+= layers.pointCount(of: member)
        }
        // Only in an index that is lost. Its centre must still be a number.
        if !(sum.weight > 0) { sum.weight = 1 }
        return sum
    }
}
