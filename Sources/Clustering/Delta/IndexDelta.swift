// SPDX-License-Identifier: MIT

/// The changes to an index since it was built: the base's nodes that are no longer shown, by level, and the
/// additional nodes.
///
/// A value type: an update changes a copy, which shares pages with the original until it writes to them. Points
/// and clusters are numbered from the end of the base's numbers. A number is never reused.
struct IndexDelta: Sendable {
    /// A cluster that the base does not have. What changes later is kept apart, so that less is copied.
    struct Cluster: BitwiseCopyable, Sendable {
        /// The exact centre in the unit square.
        var x: Double
        var y: Double
        /// The sum of its points' weights; their number if points are not weighted.
        var weight: Double
        var partition: UInt32
        var count: UInt32
        /// The point that it grew from.
        var origin: UInt32
        var childStart: UInt32
        var childCount: UInt32
        var zoom: UInt8
    }

    /// A point that the base does not have, or has at another position.
    struct PlacedPoint: BitwiseCopyable, Sendable {
        /// The position in the precision in which positions are compared.
        var x: Double
        var y: Double
        var weight: Double
        /// The label in the order (see `OrderLabel`); ignored for a point of the base.
        var label: OrderLabel
        var partition: UInt32
        var isAlive: Bool
    }

    /// Whether nothing has changed since the index was built.
    private(set) var isEmpty = true
    /// The index that the next new point gets.
    var pointLimit: Int
    /// Whether any added points do not come last in the order.
    var hasLabels = false
    /// The number of points, including the base's.
    var pointCount: Int
    /// The number of clusters, including the base's.
    var clusterCount: Int
    /// Removed points, in ascending order.
    var removedPoints: [UInt32] = []
    /// For points that updates placed: the index in `placements`, by point.
    var placed: NodeNumbers
    var placements = PagedArray<PlacedPoint>()
    /// The delta's clusters, by ordinal minus the base's count.
    private(set) var clusters = PagedArray<Cluster>()
    /// Their parents.
    private(set) var clusterParents = PagedArray<UInt32>()
    /// Which of them exist: bits by index.
    private var aliveClusters = PagedArray<UInt64>()
    var children = PagedArray<NodeKey>()
    /// Parents that differ from the base's, by key, of nodes that are not the delta's clusters.
    var parents: NodeNumbers
    /// For nodes of the base, by key: a bit for each level at which the node is no longer shown.
    var tombstones: NodeNumbers
    /// By level, from the lowest zoom: nodes shown in addition to the base's. Empty until the first change.
    var levels: [NodeGrid] = []
    /// All positions at which updates placed points, the former ones included. No cells until the first change.
    var places = NodeGrid(cell: 1)

    init(over base: BaseIndex) {
        let (points, clusters) = (base.pointCount, base.clusterCount)
        placed = NodeNumbers(points: points, clusters: 0, absent: .max)
        parents = NodeNumbers(points: points, clusters: clusters, absent: .max - 1)
        tombstones = NodeNumbers(points: points, clusters: clusters, absent: 0)
        pointLimit = base.pointCount
        pointCount = base.pointCount
        clusterCount = base.clusterCount
    }

    /// Prepares for the first change.
    mutating func open(_ options: ClusteringOptions) {
        guard isEmpty else { return }
        isEmpty = false
        levels = (options.minimumZoom...options.maximumZoom + 1).map { level in
            NodeGrid(cell: 2 * options.unitRadius(at: max(level - 1, options.minimumZoom)))
        }
        places = NodeGrid(cell: LoneDistances(options, pointCount: pointCount).longest)
    }

    /// The number of nodes in the delta: an update's cost grows with it.
    var size: Int { clusters.count + placements.count + removedPoints.count }

    var memoryBytes: Int {
        let tree =
            clusters.memoryBytes + clusterParents.memoryBytes + aliveClusters.memoryBytes + children.memoryBytes
        let points = placements.memoryBytes + removedPoints.count * 4
        let maps = placed.memoryBytes + parents.memoryBytes + tombstones.memoryBytes
        return tree + points + maps + places.memoryBytes + levels.reduce(0) { $0 + $1.memoryBytes }
    }

    mutating func append(_ cluster: Cluster, parent: UInt32 = NodeNumber.none, isAlive: Bool = true) {
        if clusters.count % 64 == 0 { aliveClusters.append(0) }
        clusters.append(cluster)
        clusterParents.append(parent)
        if isAlive { aliveClusters[(clusters.count - 1) / 64] |= 1 << UInt64((clusters.count - 1) % 64) }
    }

    @inline(__always) func isAlive(row: Int) -> Bool { aliveClusters[row / 64] & 1 << UInt64(row % 64) != 0 }

    mutating func remove(row: Int) { aliveClusters[row / 64] &= ~(1 << UInt64(row % 64)) }

    mutating func setParent(_ parent: UInt32, row: Int) { clusterParents[row] = parent }

    @inline(__always) func placement(of point: UInt32) -> PlacedPoint? {
        placed[point].map { placements[Int($0)] }
    }

    /// Puts a point where an update placed it.
    mutating func place(_ placement: PlacedPoint, of point: NodeKey) {
        if let row = placed[point.rawValue] {
            placements[Int(row)] = placement
        } else {
            placed.set(point.rawValue, UInt32(truncatingIfNeeded: placements.count))
            placements.append(placement)
        }
        places.insert(point, x: placement.x, y: placement.y)
    }

    /// Hides a node of the base at levels, a bit each, or shows it again.
    mutating func setHidden(_ isHidden: Bool, _ key: NodeKey, at levels: UInt32) {
        guard levels != 0 else { return }
        let hidden = tombstones[key.rawValue] ?? 0
        tombstones.set(key.rawValue, isHidden ? hidden | levels : hidden & ~levels)
    }

    /// Whether a node of the base is no longer shown at a level.
    @inline(__always) func hides(_ key: NodeKey, at level: Int) -> Bool {
        guard let mask = tombstones[key.rawValue] else { return false }
        return mask & (1 << UInt32(level)) != 0
    }
}
