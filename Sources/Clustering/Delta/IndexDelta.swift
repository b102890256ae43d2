// SPDX-License-Identifier: MIT

/// The changes of an index since it was built: which of the base's nodes are no longer shown at which levels, and
/// which nodes exist besides.
///
/// A value: an update changes a copy, which shares pages with the original until it writes to them. Points and clusters are
/// numbered from where the base's numbers end. A number is never used again.
struct IndexDelta: Sendable {
    /// A cluster that the base does not have.
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
        var parent: UInt32
        var zoom: UInt8
        var isAlive: Bool
    }

    /// A point that the base does not have, or has elsewhere.
    struct PlacedPoint: BitwiseCopyable, Sendable {
        /// The position as it is compared.
        var x: Double
        var y: Double
        var weight: Double
        /// See `OrderLabel`; without effect for a point of the base.
        var label: OrderLabel
        var partition: UInt32
        var isAlive: Bool
    }

    /// Whether nothing has changed since the index was built.
    private(set) var isEmpty = true
    /// The index that the next new point gets.
    var pointLimit: Int
    /// Whether some added points do not come last in the order.
    var hasLabels = false
    /// How many points there are, those of the base included.
    var pointCount: Int
    /// How many clusters there are, those of the base included.
    var clusterCount: Int
    /// Removed points, ascending.
    var removedPoints: [UInt32] = []
    /// By point: its index in `placements`, for points that updates placed.
    var placed = PagedNumberMap()
    var placements = PagedArray<PlacedPoint>()
    /// By ordinal less the base's count.
    var clusters = PagedArray<Cluster>()
    var children = PagedArray<NodeKey>()
    /// By key, except for the delta's clusters: a parent that differs from the base's.
    var parents = PagedNumberMap()
    /// By key of a node of the base: a bit for each level at which it is no longer shown.
    var tombstones = PagedNumberMap()
    /// By level, from the lowest zoom: nodes shown besides the base's. Empty until the first change.
    var levels: [NodeGrid] = []

    init(over base: BaseIndex) {
        pointLimit = base.pointCount
        pointCount = base.pointCount
        clusterCount = base.clusterCount
    }

    /// Prepares for the first change.
    mutating func open(_ options: ClusteringOptions) {
        guard isEmpty else { return }
        isEmpty = false
        levels = (options.minimumZoom...options.maximumZoom + 1).map { level in
            NodeGrid(cell: options.unitRadius(at: max(level - 1, options.minimumZoom)))
        }
    }

    /// How many nodes it holds: an update's cost grows with it.
    var size: Int { clusters.count + placements.count + removedPoints.count }

    var memoryBytes: Int {
        let tree = clusters.memoryBytes + children.memoryBytes
        let points = placements.memoryBytes + removedPoints.count * 4
        let maps = placed.memoryBytes + parents.memoryBytes + tombstones.memoryBytes
        return tree + points + maps + levels.reduce(0) { $0 + $1.memoryBytes }
    }

    @inline(__always) func placement(of point: UInt32) -> PlacedPoint? {
        placed[point].map { placements[Int($0)] }
    }

    /// Whether a node of the base is no longer shown at a level.
    @inline(__always) func hides(_ key: NodeKey, at level: Int) -> Bool {
        guard let mask = tombstones[key.rawValue] else { return false }
        return mask & (1 << UInt32(level)) != 0
    }
}
