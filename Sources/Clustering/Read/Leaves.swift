// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// A cluster's points, in the order of `children(of:)`, each child with all its points. The order is the same
    /// on every build, so pages neither repeat nor miss a leaf.
    ///
    /// - Complexity: O(1); for a cluster that an update made, O(its children that updates made). Reading a page
    ///   costs its length, wherever it starts.
    public func leaves(of cluster: ClusterOrdinal) -> Leaves {
        let ordinal = Int(cluster.rawValue)
        let columns = layers.base.columns
        guard layers.deltaRow(ordinal) == nil else {
            return Leaves(
                leaves: columns.leaves, start: 0, endIndex: pointCount(of: cluster), runs: layers.leafRuns(of: cluster))
        }
        return Leaves(
            leaves: columns.leaves, start: Int(columns.leafStarts[ordinal]),
            endIndex: Int(columns.counts[ordinal]), runs: [])
    }

    /// A cluster's points.
    public struct Leaves: RandomAccessCollection, Sendable {
        let leaves: Column<UInt32>
        let start: Int
        public let endIndex: Int
        /// Empty if all leaves are one run.
        let runs: [LeafRun]

        public var startIndex: Int { 0 }

        public subscript(position: Int) -> PointIndex {
            guard !runs.isEmpty else { return PointIndex(rawValue: leaves[within: start + position]) }
            let run = runs[runs.partitionIndex { $0.position <= position } - 1]
            if run.isPoint { return PointIndex(rawValue: UInt32(truncatingIfNeeded: run.first)) }
            return PointIndex(rawValue: leaves[within: run.first + position - run.position])
        }

        /// Calls `body` with all leaves in order, without a search for each leaf.
        @inline(__always) func visit(_ body: (PointIndex) -> Void) {
            forEachRun { run, count in
                if run.isPoint { return body(PointIndex(rawValue: UInt32(truncatingIfNeeded: run.first))) }
                for index in run.first..<run.first + count { body(PointIndex(rawValue: leaves[within: index])) }
            }
        }

        /// Calls `body` with all runs in order, and the number of leaves of each.
        @inline(__always) func forEachRun(_ body: (LeafRun, _ count: Int) -> Void) {
            guard !runs.isEmpty else {
                return body(LeafRun(position: 0, first: start, isPoint: false), endIndex)
            }
            for (number, run) in runs.enumerated() {
                let end = number + 1 < runs.count ? runs[number + 1].position : endIndex
                body(run, Swift.max(0, end - run.position))
            }
        }
    }
}

/// Consecutive leaves in the base's leaves, or a single point.
struct LeafRun: Sendable, BitwiseCopyable {
    /// The number of leaves before it.
    let position: Int
    /// The point itself, or the index of the first leaf in the base's leaves.
    let first: Int
    let isPoint: Bool
}

extension LayeredIndex {
    /// A cluster's leaves as runs, in order.
    func leafRuns(of cluster: ClusterOrdinal) -> [LeafRun] {
        var runs: [LeafRun] = []
        var end = 0
        appendRuns(of: NodeKey(cluster), &runs, &end)
        return runs
    }

    private func appendRuns(of key: NodeKey, _ runs: inout [LeafRun], _ end: inout Int) {
        if key.isCluster, deltaRow(key.number) != nil {
            for position in 0..<childCount(ofCluster: key.number) {
                appendRuns(of: child(position, ofCluster: key.number), &runs, &end)
            }
            return
        }
        let first = key.isCluster ? Int(base.columns.leafStarts[key.number]) : key.number
        runs.append(LeafRun(position: end, first: first, isPoint: !key.isCluster))
        end += Int(pointCount(of: key))
    }
}

extension ClusterIndex {
    /// A cluster's children: the node from which it grew, then those that joined it, in the order of their origins.
    public func children(of cluster: ClusterOrdinal) -> Children {
        let indexes = layers.childIndexes(ofCluster: Int(cluster.rawValue))
        return Children(index: self, cluster: Int(cluster.rawValue), start: indexes.lowerBound, endIndex: indexes.count)
    }

    /// A cluster's children.
    public struct Children: RandomAccessCollection, Sendable {
        let index: ClusterIndex
        let cluster: Int
        /// The first child's index among the children of the layer that has the cluster.
        let start: Int
        public let endIndex: Int

        public var startIndex: Int { 0 }
        public subscript(position: Int) -> Node {
            index.layers.child(at: start &+ position, ofCluster: cluster).node
        }
    }
}
