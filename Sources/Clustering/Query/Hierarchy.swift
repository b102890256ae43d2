// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// A cluster's id as supercluster makes it: `((index << 5) | (zoom + 1)) + points`, where `index` is the
    /// place in the next deeper level's list of the node that the cluster grew from.
    public func id(of cluster: ClusterOrdinal) -> Int64 {
        let ordinal = Int(cluster.rawValue)
        return (Int64(columns.originIndexes[ordinal]) << 5 | Int64(columns.zooms[ordinal]) + 1)
            + Int64(pointCount)
    }

    /// The cluster with an id; nil where there is none. O(log clusters of its zoom).
    public func cluster(id: Int64) -> ClusterOrdinal? {
        let (code, overflow) = id.subtractingReportingOverflow(Int64(pointCount))
        guard !overflow, code >= 0 else { return nil }
        let zoom = Int(code & 31) - 1
        let origin = code >> 5
        guard zoom >= 0, zoom < columns.ranges.count else { return nil }
        var (low, high) = (Int(columns.ranges[zoom].lowerBound), Int(columns.ranges[zoom].upperBound))
        let end = high
        while low < high {
            let middle = (low + high) / 2
            if Int64(columns.originIndexes[middle]) < origin { low = middle + 1 } else { high = middle }
        }
        guard low < end, Int64(columns.originIndexes[low]) == origin else { return nil }
        return ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: low))
    }

    /// How many points a cluster has, at least 2.
    public func pointCount(of cluster: ClusterOrdinal) -> Int { Int(columns.counts[Int(cluster.rawValue)]) }

    /// The sum of a cluster's points' weights; nil where points are not weighted.
    public func weight(of cluster: ClusterOrdinal) -> Double? {
        columns.weights.map { $0[pointCount + Int(cluster.rawValue)] }
    }

    /// The part that all of a cluster's points are of; nil where points were not parted.
    public func partition(of cluster: ClusterOrdinal) -> UInt32? {
        columns.partitions.map { $0[pointCount + Int(cluster.rawValue)] }
    }

    /// A cluster's centre in the unit square, in 64 bits.
    public func unitPosition(of cluster: ClusterOrdinal) -> (x: Double, y: Double) {
        (columns.x[Int(cluster.rawValue)], columns.y[Int(cluster.rawValue)])
    }

    /// A cluster's centre in degrees.
    public func coordinates(of cluster: ClusterOrdinal) -> (longitude: Double, latitude: Double) {
        let (x, y) = unitPosition(of: cluster)
        return (Projection.longitude(x: x), Projection.latitude(y: y))
    }

    /// The deepest zoom at which a cluster is shown as one.
    public func zoom(of cluster: ClusterOrdinal) -> Zoom {
        Zoom(rawValue: Int(columns.zooms[Int(cluster.rawValue)]))
    }

    /// The zoom at which a cluster falls into its children: one deeper than the deepest that shows it.
    public func expansionZoom(of cluster: ClusterOrdinal) -> Zoom {
        Zoom(rawValue: zoom(of: cluster).rawValue + 1)
    }

    /// The cluster that a node goes into at a shallower zoom; nil at the shallowest.
    public func parent(of node: Node) -> ClusterOrdinal? {
        let parent = columns.parents[number(node)]
        return parent == NodeNumber.none ? nil : ClusterOrdinal(rawValue: parent)
    }

    /// What shows a point at a zoom: itself, or the cluster it is in. O(zooms).
    public func node(showing point: PointIndex, at zoom: Zoom) -> Node {
        var node = Node.point(point)
        while let parent = parent(of: node), self.zoom(of: parent) >= zoom { node = .cluster(parent) }
        return node
    }

    /// A cluster's children: the node that it grew from, then those that joined, in input order of the
    /// points that these grew from.
    public func children(of cluster: ClusterOrdinal) -> Children {
        let ordinal = Int(cluster.rawValue)
        return Children(
            index: self, bounds: Int(columns.childStarts[ordinal])..<Int(columns.childStarts[ordinal + 1]))
    }

    /// A cluster's points, child by child as `children(of:)` has them, each with all its own: an order that
    /// is the same on every build, so that pages neither repeat nor lose a leaf.
    ///
    /// - Complexity: O(1); reading a page costs the page, wherever it starts.
    public func leaves(of cluster: ClusterOrdinal) -> Leaves {
        let ordinal = Int(cluster.rawValue)
        let start = Int(columns.leafStarts[ordinal])
        return Leaves(leaves: columns.leaves, bounds: start..<start + Int(columns.counts[ordinal]))
    }

    /// The tree as flat arrays, for whoever folds values up from points to clusters: by cluster where its
    /// children start in `children`, one more at the end; children as node numbers, points first, then
    /// `pointCount` plus the ordinal. A cluster's children come before it.
    public func withHierarchy<Result>(
        _ body: (_ childStarts: UnsafeBufferPointer<UInt32>, _ children: UnsafeBufferPointer<UInt32>) ->
            Result
    ) -> Result {
        body(
            UnsafeBufferPointer(start: columns.childStarts.base, count: clusterCount + 1),
            UnsafeBufferPointer(start: columns.children.base, count: columns.children.count))
    }

    public struct Children: RandomAccessCollection, Sendable {
        let index: ClusterIndex
        let bounds: Range<Int>

        public var startIndex: Int { 0 }
        public var endIndex: Int { bounds.count }
        public subscript(position: Int) -> Node {
            index.node(index.columns.children[bounds.lowerBound + position])
        }
    }

    public struct Leaves: RandomAccessCollection, Sendable {
        let leaves: Column<UInt32>
        let bounds: Range<Int>

        public var startIndex: Int { 0 }
        public var endIndex: Int { bounds.count }
        public subscript(position: Int) -> PointIndex {
            PointIndex(rawValue: leaves[bounds.lowerBound + position])
        }
    }
}
