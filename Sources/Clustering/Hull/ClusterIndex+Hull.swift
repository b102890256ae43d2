// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Returns a cluster's points, except those that the index knows to be inside the cluster's hull and
    /// therefore not part of it; for large clusters few remain. In the order of `leaves(of:)`.
    ///
    /// - Parameter isCancelled: called from time to time.
    /// - Returns: nil if cancelled.
    /// - Complexity: O(nodes of the index), a few nanoseconds each, for clusters that contain a large enough part
    ///   of it; for others O(points), and all their points are returned.
    public func hullCandidates(
        of cluster: ClusterOrdinal, isCancelled: () -> Bool = { false }
    ) -> [PointIndex]? {
        let leaves = leaves(of: cluster)
        switch layers.base.spatial {
        case .float(let spatial): return candidates(leaves, spatial, isCancelled)
        case .double(let spatial): return candidates(leaves, spatial, isCancelled)
        }
    }

    private func candidates<Scalar: Coordinate>(
        _ leaves: Leaves, _ spatial: SpatialIndex<Scalar>, _ isCancelled: () -> Bool
    ) -> [PointIndex]? {
        if isCancelled() { return nil }
        guard leaves.count >= HullSieve<Scalar>.worthwhile,
            leaves.count * HullSieve<Scalar>.worthwhilePart >= spatial.layout.nodeCount
        else { return Array(leaves) }
        var sieve = HullSieve(spatial)
        let (basePointCount, placed) = (layers.base.pointCount, layers.delta.placed)
        let hasPlaced = !layers.delta.placements.isEmpty
        leaves.visit { point in
            // The base's position is out of date for a point that an update placed.
            let isInBase = Int(point.rawValue) < basePointCount && !(hasPlaced && placed[point.rawValue] != nil)
            if isInBase { sieve.admit(point.rawValue) }
        }
        guard sieve.run(isCancelled) else { return nil }
        var candidates: [PointIndex] = []
        leaves.visit { if !sieve.isMarked($0.rawValue) { candidates.append($0) } }
        return candidates
    }
}

/// Finds points that are certainly inside the hull of a set, from their positions in a spatial index.
///
/// A point is inside if the set has points in all four quadrants around it. Projecting keeps the order along
/// either axis, so that holds in degrees if it holds in the unit square.
private struct HullSieve<Scalar: Coordinate> {
    /// Below this many points, all exact positions are looked up instead.
    static var worthwhile: Int { 8192 }
    /// At least one in this many of the visited nodes must be one of the points.
    static var worthwhilePart: Int { 64 }
    /// The most columns of the unit square into which the points are divided.
    private static var mostColumns: Int { 1024 }
    /// The maximum distance between indexed and exact positions, in the unit square: eight times the error of
    /// rounding to 32 bits, which is far above the error of projecting. Points clamped to the square's edges have
    /// none beyond them.
    private static var tolerance: Double { 0x1p-22 }
    /// Nodes between two checks for cancellation.
    private static var nodesBetweenChecks: Int { 1 << 16 }

    private let spatial: SpatialIndex<Scalar>
    /// One bit per point: at first whether it is one of the set's points, later whether it is certainly inside.
    private var marks: [UInt64]
    private var admitted = 0

    init(_ spatial: SpatialIndex<Scalar>) {
        self.spatial = spatial
        marks = Array(repeating: 0, count: (spatial.layout.pointCount + 63) / 64)
    }

    @inline(__always) mutating func admit(_ point: UInt32) {
        marks[Int(point) >> 6] |= 1 << UInt64(point & 63)
        admitted += 1
    }

    @inline(__always) func isMarked(_ point: UInt32) -> Bool {
        let word = Int(point) >> 6
        return word < marks.count && marks[word] & (1 << UInt64(point & 63)) != 0
    }

    /// Marks the points inside; returns false if cancelled.
    mutating func run(_ isCancelled: () -> Bool) -> Bool {
        guard let slots = gather(isCancelled) else { return false }
        for word in marks.indices { marks[word] = 0 }
        guard let first = slots.first else { return !isCancelled() }
        var (west, east) = (Double(first.x), Double(first.x))
        for slot in slots { (west, east) = (min(west, Double(slot.x)), max(east, Double(slot.x))) }
        // Of points that have a column between them it is certain which lies further east.
        let columns = min(Self.mostColumns, Int((east - west) / (4 * Self.tolerance)))
        guard !isCancelled() else { return false }
        guard columns > 4 else { return true }
        let scale = Double(columns) / (east - west)
        func column(_ slot: SpatialSlot<Scalar>) -> Int {
            min(columns - 1, Int((Double(slot.x) - west) * scale))
        }
        // For each column, the least and the greatest `y` of its points.
        var extents = [(north: Double, south: Double)](repeating: (2, -1), count: columns)
        for slot in slots {
            let (column, y) = (column(slot), Double(slot.y))
            extents[column].north = min(extents[column].north, y)
            extents[column].south = max(extents[column].south, y)
        }
        let inside = Self.intervals(extents)
        for (index, slot) in slots.enumerated() {
            if index % Self.nodesBetweenChecks == 0, isCancelled() { return false }
            let (interval, y) = (inside[column(slot)], Double(slot.y))
            if y > interval.north, y < interval.south {
                marks[Int(slot.node) >> 6] |= 1 << UInt64(slot.node & 63)
            }
        }
        return true
    }

    /// For each column, the `y` between which its points have others in all four quadrants.
    private static func intervals(_ extents: [(north: Double, south: Double)]) -> [(north: Double, south: Double)] {
        var inside = [(north: Double, south: Double)](repeating: (-1, 2), count: extents.count)
        func narrow(_ columns: some Sequence<Int>) {
            var (passed, last) = ((north: 2.0, south: -1.0), (north: 2.0, south: -1.0))
            for column in columns {
                inside[column].north = max(inside[column].north, passed.north + tolerance)
                inside[column].south = min(inside[column].south, passed.south - tolerance)
                // The next column's points are beside this one's, those behind it are beyond.
                passed = (min(passed.north, last.north), max(passed.south, last.south))
                last = extents[column]
            }
        }
        narrow(extents.indices)
        narrow(extents.indices.reversed())
        return inside
    }

    /// The points' slots, in the curve's order.
    private func gather(_ isCancelled: () -> Bool) -> [SpatialSlot<Scalar>]? {
        var slots: [SpatialSlot<Scalar>] = []
        slots.reserveCapacity(admitted)
        for index in 0..<spatial.layout.nodeCount {
            if index % Self.nodesBetweenChecks == 0, isCancelled() { return nil }
            let slot = spatial.slots[index]
            if isMarked(slot.node) { slots.append(slot) }
        }
        return slots
    }
}
