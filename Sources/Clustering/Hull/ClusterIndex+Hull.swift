// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Returns a cluster's points, except those that the index knows to be inside the cluster's hull and
    /// therefore not part of it; for large clusters few remain. In the order of `leaves(of:)`.
    ///
    /// For most points the index's rounded positions decide that, without their exact positions.
    ///
    /// - Parameters:
    ///   - position: returns a point's exact position in degrees; called for a few hundred points.
    ///   - isCancelled: called from time to time.
    /// - Returns: nil if cancelled.
    /// - Complexity: O(nodes of the index), a few nanoseconds each, for clusters that contain a large enough part
    ///   of it; for others O(points), and all their points are returned.
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
        let (basePointCount, placed) = (layers.base.pointCount, layers.delta.placed)
        let hasPlaced = !layers.delta.placements.isEmpty
        leaves.visit { point in
            // The base's position is out of date for a point that an update placed.
            let isInBase =
                Int(point.rawValue) < basePointCount && !(hasPlaced && placed[point.rawValue] != nil)
            if isInBase { sieve.admit(point) }
        }
        guard sieve.run(isCancelled, position) else { return nil }
        var candidates: [PointIndex] = []
        leaves.visit { if !sieve.isInside($0) { candidates.append($0) } }
        return candidates
    }
}

/// A position in degrees.
public struct Position: Hashable, Sendable, BitwiseCopyable {
    public var longitude: Double
    public var latitude: Double

    @inlinable public init(longitude: Double, latitude: Double) {
        self.longitude = longitude
        self.latitude = latitude
    }
}
