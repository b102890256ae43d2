// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// A cluster's points without those that the index knows to be inside of the cluster's hull, and so to have
    /// no part in it: for large clusters few are left. In the order of `leaves(of:)`.
    ///
    /// The index's rounded positions decide that for most points, without their exact
    /// positions.
    ///
    /// - Parameters:
    ///   - position: a point's exact position in degrees; called for a few hundred points.
    ///   - isCancelled: called from time to time.
    /// - Returns: nil if cancelled.
    /// - Complexity: O(nodes of the index), some nanoseconds each, for clusters of a part of it that is worth
    ///   that; O(points) for others, none of whose points are left out.
    public func hullCandidates(
        of cluster: ClusterOrdinal, isCancelled: () -> Bool = { false },
        position: (PointIndex) -> Position
    ) -> [PointIndex]? {
        let leaves = leaves(of: cluster)
        switch layers.base.spatial {
        case .float(let spatial): return candidates(leaves, spatial, isCancelled, position)
        case .double(let spatial): return candidates(leaves, spatial, isCancelled, position)
        }
    }

    private func candidates<Scalar: Coordinate>(
        _ leaves: Leaves, _ spatial: SpatialIndex<Scalar>, _ isCancelled: () -> Bool,
        _ position: (PointIndex) -> Position
    ) -> [PointIndex]? {
        if isCancelled() { return nil }
        guard leaves.count >= HullSieve<Scalar>.worthwhile,
            leaves.count * HullSieve<Scalar>.worthwhilePart >= spatial.layout.nodeCount
        else { return Array(leaves) }
        var sieve = HullSieve(spatial, options.projection)
        let placed = layers.delta.placed
        leaves.visit { point in
            // The base's position of a point that an update placed is out of date.
            if Int(point.rawValue) < layers.base.pointCount, placed[point.rawValue] == nil {
                sieve.admit(point)
            }
        }
        guard sieve.run(isCancelled, position) else { return nil }
        var candidates: [PointIndex] = []
        leaves.visit { if !sieve.isInside($0) { candidates.append($0) } }
        return candidates
    }
}
