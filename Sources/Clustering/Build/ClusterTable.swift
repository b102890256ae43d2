// SPDX-License-Identifier: MIT
import SystemSupport

/// The clusters made so far, as columns indexed by ordinal, and every node's parent.
///
/// Capacities are upper bounds: each cluster has at least two children, so there are fewer clusters than points.
/// Pages that are never written use no memory.
final class ClusterTable {
    let pointCount: Int
    var count = 0
    var childCount = 0
    /// By zoom: the range of ordinals of that zoom's clusters.
    var ranges: [Range<UInt32>]

    var x: Scratch<Double>
    var y: Scratch<Double>
    var counts: Scratch<UInt32>
    let zooms: Scratch<UInt8>
    /// The index of the node from which the cluster grew, in the list of the next deeper level.
    var originIndexes: Scratch<UInt32>
    /// The ordinal along the curve, by former ordinal, which is by origin within a zoom. Empty until clusters are
    /// renumbered.
    var ordinalsByOrigin = Scratch<UInt32>(capacity: 1)
    var childStarts: Scratch<UInt32>
    var children: Scratch<UInt32>
    /// The parent's ordinal of each node, or none.
    var parents: Scratch<UInt32>
    /// The weight of each node if points are weighted, summed in input order; otherwise nil.
    var weights: Scratch<Double>?
    /// The partition of each node; nil if there are no partitions.
    var partitions: Scratch<UInt32>?

    /// The table of a part of a level: its nodes are the first clusters, without children, and there are no points.
    init(of nodes: UnsafeBufferPointer<LevelNode>, zoomLimit: Int, hasPartitions: Bool) {
        pointCount = 0
        ranges = Array(repeating: 0..<0, count: zoomLimit)
        let most = 2 * nodes.count
        x = Scratch(atMost: most)
        y = Scratch(atMost: most)
        counts = Scratch(atMost: most)
        zooms = Scratch(atMost: most)
        originIndexes = Scratch(atMost: most)
        childStarts = Scratch(atMost: most + 1)
        children = Scratch(atMost: most)
        parents = Scratch(atMost: most)
        let weights = Scratch<Double>(atMost: most)
        let partitions = hasPartitions ? Scratch<UInt32>(atMost: most) : nil
        for (ordinal, node) in nodes.enumerated() {
            (x.base[ordinal], y.base[ordinal], weights.base[ordinal]) = (node.x, node.y, node.weight)
            counts.base[ordinal] = node.count
            zooms.base[ordinal] = UInt8(truncatingIfNeeded: node.zoom)
            partitions?.base[ordinal] = node.partition
            childStarts.base[ordinal] = 0
            parents.base[ordinal] = NodeNumber.none
        }
        childStarts.base[nodes.count] = 0
        (self.weights, self.partitions) = (weights, partitions)
        count = nodes.count
    }

    /// A table to be filled, with the clusters of each zoom in the order of their origins.
    init(points: Int, clusters: Int, ranges: [Range<UInt32>]) {
        pointCount = points
        count = clusters
        self.ranges = ranges
        x = Scratch(capacity: clusters)
        y = Scratch(capacity: clusters)
        counts = Scratch(capacity: clusters)
        zooms = Scratch(capacity: clusters)
        originIndexes = Scratch(capacity: clusters)
        childStarts = Scratch(capacity: clusters + 1)
        children = Scratch(capacity: 1)
        parents = Scratch(repeating: NodeNumber.none, count: points + clusters)
    }

    /// Makes room for the children that `childCount` counts.
    func makeChildren() { children = Scratch(capacity: childCount) }

    init(pointCount: Int, zoomLimit: Int, weights: [Double]?, partitions: [UInt32]?, parallel: Parallel) {
        self.pointCount = pointCount
        ranges = Array(repeating: 0..<0, count: zoomLimit)
        x = Scratch(atMost: pointCount)
        y = Scratch(atMost: pointCount)
        counts = Scratch(atMost: pointCount)
        zooms = Scratch(atMost: pointCount)
        originIndexes = Scratch(atMost: pointCount)
        childStarts = Scratch(atMost: pointCount + 1)
        children = Scratch(atMost: 2 * pointCount)
        parents = Scratch(atMost: 2 * pointCount)
        childStarts.base[0] = 0
        parallel.fill(parents.base, count: pointCount, with: NodeNumber.none)
        self.weights = weights.map { Self.column($0, capacity: 2 * pointCount) }
        self.partitions = partitions.map { Self.column($0, capacity: 2 * pointCount) }
    }

    private static func column<Value: BitwiseCopyable>(_ values: [Value], capacity: Int) -> Scratch<Value> {
        let column = Scratch<Value>(capacity: capacity)
        values.withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { column.base.initialize(from: base, count: buffer.count) }
        }
        return column
    }

    @inline(__always) func pointCount(ofNode node: UInt32) -> UInt32 {
        Int(node) < pointCount ? 1 : counts.base[Int(node) - pointCount]
    }
}

/// Every cluster's exact centre.
struct Centers<Scalar: Coordinate> {
    let pointCount: UInt32
    let x: UnsafePointer<Double>
    let y: UnsafePointer<Double>

    /// Whether `claimant` reaches `other`, by supercluster's own comparison: the claimant's exact centre against
    /// the other's rounded one. The exact centre is used only if `squared` does not decide: the squared distance
    /// between the rounded positions, which must not exceed `reachSquared`.
    @inline(__always) func reaches(
        _ claimant: LevelEntry<Scalar>, _ other: LevelEntry<Scalar>, _ squared: Scalar, _ radius: LevelRadius<Scalar>
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
