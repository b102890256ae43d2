// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Where a cluster is among those that changes made; nil where it is the base's.
    @inline(__always) private func changed(_ cluster: ClusterOrdinal) -> (IndexOverlay, Int)? {
        guard let overlay, let place = overlay.state.overlayCluster(Int(cluster.rawValue)) else { return nil }
        return (overlay, place)
    }

    /// A cluster's id as supercluster makes it: `((index << 5) | (zoom + 1)) + points`, where `index` is the
    /// place in the next deeper level's list of the node that the cluster grew from. A cluster that changes
    /// made (see `updated`) has `2^48 + ((point << 5) | (zoom + 1))`, where `point` is the index of the point
    /// that it grew from.
    public func id(of cluster: ClusterOrdinal) -> Int64 {
        if let (overlay, place) = changed(cluster) { return overlay.id(ofCluster: place) }
        return baseId(Int(cluster.rawValue))
    }

    /// The id of a cluster that the index was built with.
    @inline(__always) func baseId(_ ordinal: Int) -> Int64 {
        (Int64(columns.originIndexes[ordinal]) &<< 5 | Int64(columns.zooms[ordinal]) &+ 1)
            &+ Int64(basePointCount)
    }

    /// The cluster with an id; nil where there is none. O(log clusters of its zoom).
    public func cluster(id: Int64) -> ClusterOrdinal? {
        guard let overlay else { return baseCluster(id: id) }
        if let cluster = overlay.cluster(id: id) { return cluster }
        guard let cluster = baseCluster(id: id), overlay.state.isAlive(cluster: Int(cluster.rawValue)) else {
            return nil
        }
        return cluster
    }

    private func baseCluster(id: Int64) -> ClusterOrdinal? {
        let (code, overflow) = id.subtractingReportingOverflow(Int64(basePointCount))
        guard !overflow, code >= 0 else { return nil }
        let zoom = Int(code & 31) - 1
        let origin = code >> 5
        guard zoom >= 0, zoom < columns.ranges.count else { return nil }
        var (low, high) = (Int(columns.ranges[zoom].lowerBound), Int(columns.ranges[zoom].upperBound))
        let end = high
        while low < high {
            let middle = (low + high) / 2
            let ordinal = Int(columns.ordinalsByOrigin[middle])
            if Int64(columns.originIndexes[ordinal]) < origin { low = middle + 1 } else { high = middle }
        }
        guard low < end else { return nil }
        let ordinal = columns.ordinalsByOrigin[low]
        guard Int64(columns.originIndexes[Int(ordinal)]) == origin else { return nil }
        return ClusterOrdinal(rawValue: ordinal)
    }

    /// How many points a cluster has, at least 2.
    public func pointCount(of cluster: ClusterOrdinal) -> Int {
        if let (overlay, place) = changed(cluster) { return Int(overlay.state.clusters[place].count) }
        return Int(columns.counts[Int(cluster.rawValue)])
    }

    /// The sum of a cluster's points' weights; nil where points are not weighted.
    public func weight(of cluster: ClusterOrdinal) -> Double? {
        if columns.weights != nil, let (overlay, place) = changed(cluster) {
            return overlay.state.clusters[place].weight
        }
        return columns.weights.map { $0[basePointCount + Int(cluster.rawValue)] }
    }

    /// Whether points are weighted.
    public var isWeighted: Bool { columns.weights != nil }

    /// The part that all of a cluster's points are of; nil where points were not parted.
    public func partition(of cluster: ClusterOrdinal) -> UInt32? {
        if columns.partitions != nil, let (overlay, place) = changed(cluster) {
            return overlay.state.clusters[place].partition
        }
        return columns.partitions.map { $0[basePointCount + Int(cluster.rawValue)] }
    }

    /// A cluster's centre in the unit square, in 64 bits.
    public func unitPosition(of cluster: ClusterOrdinal) -> (x: Double, y: Double) {
        if let (overlay, place) = changed(cluster) {
            return (overlay.state.clusters[place].x, overlay.state.clusters[place].y)
        }
        return (columns.x[Int(cluster.rawValue)], columns.y[Int(cluster.rawValue)])
    }

    /// A cluster's centre in degrees.
    public func coordinates(of cluster: ClusterOrdinal) -> (longitude: Double, latitude: Double) {
        let (x, y) = unitPosition(of: cluster)
        return (Projection.longitude(x: x), Projection.latitude(y: y))
    }

    /// The deepest zoom at which a cluster is shown as one.
    public func zoom(of cluster: ClusterOrdinal) -> Zoom {
        if let (overlay, place) = changed(cluster) {
            return Zoom(rawValue: Int(overlay.state.clusters[place].zoom))
        }
        return Zoom(rawValue: Int(columns.zooms[Int(cluster.rawValue)]))
    }

    /// The zoom at which a cluster falls into its children: one deeper than the deepest that shows it.
    public func expansionZoom(of cluster: ClusterOrdinal) -> Zoom {
        Zoom(rawValue: zoom(of: cluster).rawValue + 1)
    }

    /// The cluster that a node goes into at a shallower zoom; nil at the shallowest.
    public func parent(of node: Node) -> ClusterOrdinal? {
        let parent: UInt32
        if let overlay {
            parent = overlay.state.parent(of: NodeKey(node))
        } else {
            switch node {
            case .point(let point): parent = columns.parents[Int(point.rawValue)]
            case .cluster(let cluster): parent = columns.parents[basePointCount + Int(cluster.rawValue)]
            }
        }
        return parent == NodeNumber.none ? nil : ClusterOrdinal(rawValue: parent)
    }

    /// What shows a point at a zoom: itself, or the cluster it is in. O(zooms).
    public func node(showing point: PointIndex, at zoom: Zoom) -> Node {
        var node = Node.point(point)
        while let parent = parent(of: node), self.zoom(of: parent) >= zoom { node = .cluster(parent) }
        return node
    }

    /// Whether a point is there: within the input, and not taken out since.
    public func contains(_ point: PointIndex) -> Bool {
        guard let overlay else { return Int(point.rawValue) < basePointCount }
        return overlay.state.isAlive(point: Int(point.rawValue))
    }

    /// A point's place in the input, points taken out since not counted.
    public func inputPlace(of point: PointIndex) -> Int {
        overlay?.inputPlace(of: point) ?? Int(point.rawValue)
    }

    /// The ordinals of each zoom's clusters that were built, the deepest zoom's first. A cluster's children are among
    /// those before its own zoom's.
    public var levels: [Range<Int>] {
        columns.ranges.filter { !$0.isEmpty }.map { Int($0.lowerBound)..<Int($0.upperBound) }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// The tree of an index without changes as flat arrays, for whoever folds values up from points to
    /// clusters: by cluster where its children start in `children`, one more at the end; children as node
    /// numbers, points first, then `pointCount` plus the ordinal. A cluster's children come before it.
    public func withHierarchy<Result>(
        _ body: (_ childStarts: UnsafeBufferPointer<UInt32>, _ children: UnsafeBufferPointer<UInt32>) ->
            Result
    ) -> Result {
        body(
            UnsafeBufferPointer(start: columns.childStarts.base, count: columns.childStarts.count),
            UnsafeBufferPointer(start: columns.children.base, count: columns.children.count))
    }
}
