// SPDX-License-Identifier: MIT

/// What changes have made of an index: the base stays as it was built, and this says which of its nodes are
/// no longer seen at which levels, and which nodes there are besides.
///
/// A value: an update changes a copy, which shares with this one what the update does not touch. Points and clusters are
/// numbered on where the base's numbers end; numbers are never used again.
struct OverlayState: Sendable {
    /// A cluster that the base does not have.
    struct Cluster: BitwiseCopyable, Sendable {
        /// The exact centre in the unit square.
        var x: Double
        var y: Double
        /// The sum of its points' weights; their number where points are not weighted.
        var weight: Double
        var partition: UInt32
        var count: UInt32
        /// The index of the point that it grew from, which is its place in the order of its level.
        var order: UInt32
        var childStart: UInt32
        var childCount: UInt32
        var parent: UInt32
        var zoom: UInt8
        var isAlive: Bool
    }

    /// A point that the base does not have, or has elsewhere.
    struct PlacedPoint: BitwiseCopyable, Sendable {
        /// The place as it is compared.
        var x: Double
        var y: Double
        var weight: Double
        var partition: UInt32
        var isAlive: Bool
    }

    let base: ClusterColumns
    let basePointCount: Int
    let options: ClusteringOptions

    /// The index that the next new point gets.
    var pointLimit: Int
    /// How many points there are.
    var pointCount: Int
    /// How many clusters there are.
    var clusterCount: Int
    /// Points taken out, ascending.
    var removedPoints: [UInt32] = []
    /// By point: its place in `placements`, for points that updates placed.
    var placed = PagedNumberMap()
    var placements = PagedArray<PlacedPoint>()
    /// By ordinal less the base's count.
    var clusters = PagedArray<Cluster>()
    var children = PagedArray<NodeKey>()
    /// By key, clusters of the overlay apart: a parent other than the base says.
    var parents = PagedNumberMap()
    /// By key of a base's node: a bit for each level at which it is not seen though the base says so.
    var hidden = PagedNumberMap()
    /// By level, from the shallowest: nodes seen besides the base's.
    var levels: [ShownNodes]

    init(base: ClusterColumns, pointCount: Int, options: ClusteringOptions) {
        self.base = base
        basePointCount = pointCount
        self.options = options
        pointLimit = pointCount
        self.pointCount = pointCount
        clusterCount = base.counts.count
        levels = (options.minimumZoom...options.maximumZoom + 1).map { level in
            ShownNodes(cell: options.unitRadius(at: max(level - 1, options.minimumZoom)))
        }
    }

    var baseClusterCount: Int { base.counts.count }

    var memoryBytes: Int {
        let tree = clusters.memoryBytes + children.memoryBytes
        let points = placements.memoryBytes + removedPoints.count * 4
        let maps = placed.memoryBytes + parents.memoryBytes + hidden.memoryBytes
        return tree + points + maps + levels.reduce(0) { $0 + $1.memoryBytes }
    }

    @inline(__always) func overlayCluster(_ ordinal: Int) -> Int? {
        ordinal >= baseClusterCount ? ordinal - baseClusterCount : nil
    }
}

/// The tree as it is with the changes.
extension OverlayState {
    @inline(__always) func zoom(ofCluster ordinal: Int) -> Int {
        if let place = overlayCluster(ordinal) { return Int(clusters[place].zoom) }
        return Int(base.zooms[ordinal])
    }

    @inline(__always) func center(ofCluster ordinal: Int) -> (x: Double, y: Double) {
        if let place = overlayCluster(ordinal) { return (clusters[place].x, clusters[place].y) }
        return (base.x[ordinal], base.y[ordinal])
    }

    /// How many points a node has.
    @inline(__always) func count(of key: NodeKey) -> UInt32 {
        guard key.isCluster else { return 1 }
        if let place = overlayCluster(key.number) { return clusters[place].count }
        return base.counts[key.number]
    }

    /// The sum of a node's points' weights, their number where points are not weighted.
    func weight(of key: NodeKey) -> Double {
        if key.isCluster, let place = overlayCluster(key.number) { return clusters[place].weight }
        guard let weights = base.weights else { return Double(count(of: key)) }
        if key.isCluster { return weights[basePointCount + key.number] }
        if let place = placed[key.rawValue] { return placements[Int(place)].weight }
        return weights[key.number]
    }

    /// The part that a node's points are of; 0 where points are not parted.
    @inline(__always) func partition(of key: NodeKey) -> UInt32 {
        guard let partitions = base.partitions else { return 0 }
        if key.isCluster {
            if let place = overlayCluster(key.number) { return clusters[place].partition }
            return partitions[basePointCount + key.number]
        }
        if let place = placed[key.rawValue] { return placements[Int(place)].partition }
        return partitions[key.number]
    }

    /// The index of the point that a node grew from: nodes of a level are visited in this order.
    @inline(__always) func order(of key: NodeKey) -> UInt32 {
        guard key.isCluster else { return key.rawValue }
        if let place = overlayCluster(key.number) { return clusters[place].order }
        return base.leaves[Int(base.leafStarts[key.number])]
    }

    /// A node's parent's ordinal, or `NodeNumber.none`.
    @inline(__always) func parent(of key: NodeKey) -> UInt32 {
        if key.isCluster, let place = overlayCluster(key.number) { return clusters[place].parent }
        if let parent = parents[key.rawValue] { return parent }
        if key.isCluster { return base.parents[basePointCount + key.number] }
        return key.number < basePointCount ? base.parents[key.number] : NodeNumber.none
    }

    mutating func setParent(_ parent: UInt32, of key: NodeKey) {
        if key.isCluster, let place = overlayCluster(key.number) {
            clusters[place].parent = parent
        } else {
            parents.set(key.rawValue, parent)
        }
    }

    /// Notes that clusters are no more.
    mutating func remove(_ dying: [Int]) {
        for cluster in dying {
            if let place = overlayCluster(cluster) { clusters[place].isAlive = false }
        }
        clusterCount -= dying.count
    }

    func childCount(ofCluster ordinal: Int) -> Int {
        if let place = overlayCluster(ordinal) { return Int(clusters[place].childCount) }
        return Int(base.childStarts[ordinal + 1] - base.childStarts[ordinal])
    }

    @inline(__always) func child(_ position: Int, ofCluster ordinal: Int) -> NodeKey {
        if let place = overlayCluster(ordinal) { return children[Int(clusters[place].childStart) + position] }
        return key(ofBase: base.children[Int(base.childStarts[ordinal]) + position])
    }

    @inline(__always) func key(ofBase node: UInt32) -> NodeKey {
        NodeKey(Node(number: node, pointCount: basePointCount))
    }

    /// Whether a point is there still.
    func isAlive(point: Int) -> Bool {
        guard point >= 0, point < pointLimit else { return false }
        if let place = placed[UInt32(point)] { return placements[Int(place)].isAlive }
        return point < basePointCount
            && !isHidden(NodeKey(rawValue: UInt32(point)), at: options.maximumZoom + 1)
    }

    func isAlive(cluster ordinal: Int) -> Bool {
        guard ordinal >= 0 else { return false }
        if let place = overlayCluster(ordinal) { return place < clusters.count && clusters[place].isAlive }
        // A cluster is always seen at the zoom that made it.
        return !isHidden(NodeKey(ClusterOrdinal(rawValue: UInt32(ordinal))), at: Int(base.zooms[ordinal]))
    }

    @inline(__always) func isHidden(_ key: NodeKey, at level: Int) -> Bool {
        guard let mask = hidden[key.rawValue] else { return false }
        return mask & (1 << UInt32(level)) != 0
    }

    /// Whether the base itself has a node at a level.
    func isInBase(_ key: NodeKey, at level: Int) -> Bool {
        let parent: UInt32
        let last: Int
        if key.isCluster {
            guard key.number < baseClusterCount else { return false }
            parent = base.parents[basePointCount + key.number]
            last = Int(base.zooms[key.number])
        } else {
            guard key.number < basePointCount, placed[key.rawValue] == nil else { return false }
            parent = base.parents[key.number]
            last = options.maximumZoom + 1
        }
        let first = parent == NodeNumber.none ? options.minimumZoom : Int(base.zooms[Int(parent)]) + 1
        return (first...max(first, last)).contains(level)
    }
}
