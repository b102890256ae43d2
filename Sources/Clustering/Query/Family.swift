// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// A cluster's children: the node that it grew from, then those that joined, in input order of the
    /// points that these grew from.
    public func children(of cluster: ClusterOrdinal) -> Children {
        let ordinal = Int(cluster.rawValue)
        if let overlay, let place = overlay.state.overlayCluster(ordinal) {
            let changed = overlay.state.clusters[place]
            let start = Int(changed.childStart)
            return Children(index: self, isChanged: true, bounds: start..<start + Int(changed.childCount))
        }
        return Children(
            index: self, isChanged: false,
            bounds: Int(columns.childStarts[ordinal])..<Int(columns.childStarts[ordinal + 1]))
    }

    /// A cluster's points, child by child as `children(of:)` has them, each with all its own: an order that
    /// is the same on every build, so that pages neither repeat nor lose a leaf.
    ///
    /// - Complexity: O(1), for a cluster that changes made O(children that they made too); reading a page
    ///   costs the page, wherever it starts.
    public func leaves(of cluster: ClusterOrdinal) -> Leaves {
        let ordinal = Int(cluster.rawValue)
        if let overlay, overlay.state.overlayCluster(ordinal) != nil {
            return Leaves(
                leaves: columns.leaves, start: 0, endIndex: pointCount(of: cluster),
                runs: overlay.leafRuns(of: ordinal))
        }
        return Leaves(
            leaves: columns.leaves, start: Int(columns.leafStarts[ordinal]),
            endIndex: Int(columns.counts[ordinal]), runs: [])
    }

    public struct Children: RandomAccessCollection, Sendable {
        let index: ClusterIndex
        /// Whether `bounds` lie among the children that changes made.
        let isChanged: Bool
        let bounds: Range<Int>

        public var startIndex: Int { 0 }
        public var endIndex: Int { bounds.count }
        public subscript(position: Int) -> Node {
            let place = bounds.lowerBound + position
            if isChanged, let overlay = index.overlay { return overlay.state.children[place].node }
            return Node(number: index.columns.children[place], pointCount: index.basePointCount)
        }
    }

    public struct Leaves: RandomAccessCollection, Sendable {
        let leaves: Column<UInt32>
        let start: Int
        public let endIndex: Int
        /// Empty where all leaves are one run.
        let runs: [LeafRun]

        public var startIndex: Int { 0 }

        public subscript(position: Int) -> PointIndex {
            guard !runs.isEmpty else { return PointIndex(rawValue: leaves[start + position]) }
            var (low, high) = (0, runs.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if runs[middle].position <= position { low = middle } else { high = middle }
            }
            let run = runs[low]
            if run.isPoint { return PointIndex(rawValue: UInt32(truncatingIfNeeded: run.first)) }
            return PointIndex(rawValue: leaves[run.first + position - run.position])
        }
    }
}
