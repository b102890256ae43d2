// SPDX-License-Identifier: MIT

/// An index as its readers see it: a base and a delta over it.
///
/// All reads of clusters go through `deltaRow`, the only function that determines which layer has a cluster. All
/// reads of a point's data go through `IndexDelta.placement`.
struct LayeredIndex: Sendable {
    var base: BaseIndex
    var delta: IndexDelta

    init(_ base: BaseIndex) {
        self.base = base
        delta = IndexDelta(over: base)
    }

    @inline(__always) var options: ClusteringOptions { base.options }
    @inline(__always) private var columns: ClusterColumns { base.columns }

    /// The ordinal of the next cluster that an update makes.
    var clusterLimit: Int { base.clusterCount + delta.clusters.count }

    /// The index of a cluster in the delta; nil if the base has it.
    @inline(__always) func deltaRow(_ ordinal: Int) -> Int? {
        ordinal >= base.clusterCount ? ordinal - base.clusterCount : nil
    }

    /// Reads one value of a cluster from the layer that has the cluster.
    @inline(__always) func read<Value>(
        _ ordinal: Int, base fromBase: (ClusterColumns) -> Value, delta fromDelta: (IndexDelta.Cluster) -> Value
    ) -> Value {
        guard let row = deltaRow(ordinal) else { return fromBase(columns) }
        return fromDelta(delta.clusters[row])
    }
}

/// Access to clusters.
extension LayeredIndex {
    /// The deepest zoom at which a cluster is shown.
    @inline(__always) func zoom(ofCluster ordinal: Int) -> Int {
        read(ordinal, base: { Int($0.zooms[ordinal]) }, delta: { Int($0.zoom) })
    }

    /// The exact centre in the unit square.
    @inline(__always) func center(ofCluster ordinal: Int) -> (x: Double, y: Double) {
        read(ordinal, base: { ($0.x[ordinal], $0.y[ordinal]) }, delta: { ($0.x, $0.y) })
    }

    @inline(__always) func pointCount(ofCluster ordinal: Int) -> UInt32 {
        read(ordinal, base: { $0.counts[ordinal] }, delta: { $0.count })
    }

    /// The point from which a cluster grew.
    @inline(__always) func origin(ofCluster ordinal: Int) -> UInt32 {
        read(ordinal, base: { $0.leaves[Int($0.leafStarts[ordinal])] }, delta: { $0.origin })
    }

    /// The indexes of a cluster's children among those of its layer; within them also if the index is lost.
    @inline(__always) func childIndexes(ofCluster ordinal: Int) -> Range<Int> {
        read(
            ordinal,
            base: { columns in
                let end = min(Int(columns.childStarts[ordinal + 1]), columns.children.count)
                return min(Int(columns.childStarts[ordinal]), end)..<end
            },
            delta: { Int($0.childStart)..<Int($0.childStart) + Int($0.childCount) })
    }

    /// - Parameter index: one of `childIndexes`.
    @inline(__always) func child(at index: Int, ofCluster ordinal: Int) -> NodeKey {
        read(
            ordinal, base: { key(ofBase: $0.children[index]) }, delta: { _ in delta.children[index] })
    }

    @inline(__always) func childCount(ofCluster ordinal: Int) -> Int {
        childIndexes(ofCluster: ordinal).count
    }

    @inline(__always) func child(_ position: Int, ofCluster ordinal: Int) -> NodeKey {
        read(
            ordinal, base: { key(ofBase: $0.children[within: Int($0.childStarts[ordinal]) + position]) },
            delta: { delta.children[Int($0.childStart) + position] })
    }

    func isAlive(cluster ordinal: Int) -> Bool {
        guard ordinal >= 0, ordinal < clusterLimit else { return false }
        if let row = deltaRow(ordinal) { return delta.isAlive(row: row) }
        // A cluster is always shown at the zoom at which it formed.
        return !delta.hides(NodeKey(ClusterOrdinal(rawValue: UInt32(ordinal))), at: Int(columns.zooms[ordinal]))
    }
}

/// Access to nodes: points and clusters.
extension LayeredIndex {
    @inline(__always) func key(ofBase node: UInt32) -> NodeKey {
        NodeKey(Node(number: node, pointCount: base.pointCount))
    }

    @inline(__always) func pointCount(of key: NodeKey) -> UInt32 {
        key.isCluster ? pointCount(ofCluster: key.number) : 1
    }

    /// The sum of a node's points' weights; their number if points are not weighted.
    func weight(of key: NodeKey) -> Double {
        guard let weights = columns.weights else { return Double(pointCount(of: key)) }
        if key.isCluster {
            return read(
                key.number, base: { _ in weights[base.pointCount + key.number] }, delta: { $0.weight })
        }
        return delta.placement(of: key.rawValue)?.weight ?? weights[key.number]
    }

    /// The partition that a node's points belong to; 0 if points are not partitioned.
    @inline(__always) func partition(of key: NodeKey) -> UInt32 {
        guard let partitions = columns.partitions else { return 0 }
        if key.isCluster {
            return read(
                key.number, base: { _ in partitions[base.pointCount + key.number] }, delta: { $0.partition })
        }
        return delta.placement(of: key.rawValue)?.partition ?? partitions[key.number]
    }

    /// The point from which a node grew: the point itself, or the cluster's origin.
    @inline(__always) func origin(of key: NodeKey) -> UInt32 {
        key.isCluster ? origin(ofCluster: key.number) : key.rawValue
    }

    /// A node's label in the order in which the greedy pass visits the nodes of a level: that of its origin.
    @inline(__always) func order(of key: NodeKey) -> OrderLabel { order(ofPoint: origin(of: key)) }

    @inline(__always) func order(ofPoint point: UInt32) -> OrderLabel {
        if delta.hasLabels, Int(point) >= base.pointCount, let placement = delta.placement(of: point) {
            return placement.label
        }
        return OrderLabel(inOrder: PointIndex(rawValue: point))
    }

    /// The ordinal of a node's parent, or `NodeNumber.none`.
    @inline(__always) func parent(of key: NodeKey) -> UInt32 {
        guard key.isCluster else {
            if let parent = delta.parents[key.rawValue] { return parent }
            return key.number < base.pointCount ? columns.parents[key.number] : NodeNumber.none
        }
        if let row = deltaRow(key.number) { return delta.clusterParents[row] }
        return delta.parents[key.rawValue] ?? columns.parents[base.pointCount + key.number]
    }

    /// Whether a point exists: it was built or added, and has not been removed.
    func isAlive(point: Int) -> Bool {
        guard point >= 0, point < delta.pointLimit else { return false }
        if let placement = delta.placement(of: UInt32(point)) { return placement.isAlive }
        return point < base.pointCount && !delta.hides(NodeKey(rawValue: UInt32(point)), at: options.maximumZoom + 1)
    }

    /// The levels at which a node that exists is shown: a bit each. Only levels of the index, also if it is lost.
    func shownLevels(_ key: NodeKey) -> UInt32 {
        let parent = parent(of: key)
        let (lowest, deepest) = (options.minimumZoom, options.maximumZoom + 1)
        let first = parent == NodeNumber.none ? lowest : max(lowest, zoom(ofCluster: Int(parent)) + 1)
        let last = min(deepest, key.isCluster ? zoom(ofCluster: key.number) : deepest)
        return Self.levels(first, last)
    }

    /// A bit for each level from one to another; none if the first is above the last.
    static func levels(_ first: Int, _ last: Int) -> UInt32 {
        first > last ? 0 : UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(last + 1)) &- (UInt64(1) << UInt64(first)))
    }

    /// The levels at which the base's own entry shows a node, regardless of tombstones: a bit each.
    func levelsInBase(_ key: NodeKey) -> UInt32 {
        // A point that an update placed is not at the position of the base's entry.
        if !key.isCluster, delta.placed[key.rawValue] != nil { return 0 }
        return base.levels(of: key)
    }
}

/// Changes.
extension LayeredIndex {
    mutating func setParent(_ parent: UInt32, of key: NodeKey) {
        if key.isCluster, let row = deltaRow(key.number) {
            delta.setParent(parent, row: row)
        } else {
            delta.parents.set(key.rawValue, parent)
        }
    }

    /// Fetches the memory of a node's parent.
    @inline(__always) func fetchParent(of key: NodeKey) {
        if key.isCluster, let row = deltaRow(key.number) {
            delta.clusterParents.fetch(row)
        } else {
            delta.parents.fetch(key.rawValue)
            base.fetchParent(of: key)
        }
    }

    /// Fetches the memory of a node's place, levels and parent.
    @inline(__always) func fetch(_ key: NodeKey) {
        fetchParent(of: key)
        if !key.isCluster {
            delta.placed.fetch(key.rawValue)
        } else if let row = deltaRow(key.number) {
            delta.clusters.fetch(row)
        } else {
            columns.fetch(key.number)
        }
    }

    /// Fetches the memory of where a cluster's children are.
    @inline(__always) func fetchChildren(ofCluster ordinal: Int) {
        if let row = deltaRow(ordinal) {
            delta.clusters.fetch(row)
        } else {
            columns.childStarts.fetch(ordinal)
        }
    }

    /// Hides nodes at levels, then shows others there.
    mutating func hide(_ hidden: [ShownNode], show shown: [ShownNode], at levels: ClosedRange<Int>) {
        let all = Self.levels(levels.lowerBound, levels.upperBound)
        for (nodes, isShown) in [(hidden, false), (shown, true)] {
            for (number, node) in nodes.enumerated() {
                let next = number + Self.fetchDistance
                if next < nodes.count { fetch(nodes[next], at: levels.lowerBound) }
                if isShown { show(node, at: all) } else { hide(node, at: all) }
            }
        }
    }

    /// How many nodes ahead memory is fetched, so that the waits for it overlap.
    private static var fetchDistance: Int { 8 }

    /// Hides a node at levels, a bit each.
    @inline(__always) mutating func hide(_ node: ShownNode, at levels: UInt32) {
        delta.setHidden(true, node.key, at: node.levelsInBase & levels)
        var rest = levels & ~node.levelsInBase
        while rest != 0 {
            _ = delta.levels[rest.trailingZeroBitCount - options.minimumZoom].remove(node.key, x: node.x, y: node.y)
            rest &= rest - 1
        }
    }

    /// Shows a node at levels, a bit each.
    @inline(__always) mutating func show(_ node: ShownNode, at levels: UInt32) {
        delta.setHidden(false, node.key, at: node.levelsInBase & levels)
        var rest = levels & ~node.levelsInBase
        while rest != 0 {
            delta.levels[rest.trailingZeroBitCount - options.minimumZoom].insert(node.key, x: node.x, y: node.y)
            rest &= rest - 1
        }
    }

    /// Fetches the memory that `hide` and `show` read first at a level.
    @inline(__always) func fetch(_ node: ShownNode, at level: Int) {
        if node.levelsInBase & 1 << UInt32(level) != 0 {
            delta.tombstones.fetch(node.key.rawValue)
        } else {
            delta.levels[level - options.minimumZoom].fetch(x: node.x, y: node.y)
        }
    }

    /// Records that clusters no longer exist.
    mutating func remove(clusters: [Int]) {
        for cluster in clusters {
            if let row = deltaRow(cluster) { delta.remove(row: row) }
        }
        delta.clusterCount -= clusters.count
    }
}

extension IndexDelta.Cluster {
    /// Marks ids of clusters that updates made. The remaining bits are the point from which the cluster grew, and
    /// its zoom.
    static let idBit: Int64 = 1 << 48

    var id: Int64 { Self.idBit | Int64(origin) << 5 | Int64(zoom) + 1 }
}

extension LayeredIndex {
    /// The cluster that an update made with an id; nil if there is none. O(zooms).
    func deltaCluster(id: Int64) -> ClusterOrdinal? {
        let code = id & ~IndexDelta.Cluster.idBit
        guard !delta.isEmpty, id & IndexDelta.Cluster.idBit != 0, code >= 0, code < 1 << 37,
            let cluster = cluster(from: UInt32(code >> 5), zoom: Int(code & 31) - 1),
            deltaRow(Int(cluster.rawValue)) != nil
        else { return nil }
        return cluster
    }

    /// The cluster of a zoom that grew from a point; nil if there is none. O(zooms).
    func cluster(from point: UInt32, zoom: Int) -> ClusterOrdinal? {
        guard isAlive(point: Int(point)) else { return nil }
        var key = NodeKey(rawValue: point)
        // A node has an ancestor at most at each zoom; the bound also ends the walk in an index that is lost.
        for _ in 0...options.maximumZoom {
            let parent = parent(of: key)
            guard parent != NodeNumber.none else { return nil }
            let found = self.zoom(ofCluster: Int(parent))
            guard found >= zoom, origin(ofCluster: Int(parent)) == point else { return nil }
            let cluster = ClusterOrdinal(rawValue: parent)
            if found == zoom { return cluster }
            key = NodeKey(cluster)
        }
        return nil
    }
}

/// A node at a place.
struct ShownNode: BitwiseCopyable, Sendable {
    let key: NodeKey
    /// The position as compared with others'.
    let x: Double
    let y: Double
    /// The levels at which the base's own entry shows it there, as a bit each; at others the delta has it.
    let levelsInBase: UInt32
}
