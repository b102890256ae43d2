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
                leaves: columns.leaves, start: 0, endIndex: pointCount(of: cluster),
                runs: layers.leafRuns(of: cluster))
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
            guard !runs.isEmpty else {
                for place in start..<start + endIndex { body(PointIndex(rawValue: leaves[within: place])) }
                return
            }
            for (number, run) in runs.enumerated() {
                if run.isPoint {
                    body(PointIndex(rawValue: UInt32(truncatingIfNeeded: run.first)))
                    continue
                }
                let end = number + 1 < runs.count ? runs[number + 1].position : endIndex
                for place in run.first..<Swift.max(run.first, run.first + end - run.position) {
                    body(PointIndex(rawValue: leaves[within: place]))
                }
            }
        }
    }
}
