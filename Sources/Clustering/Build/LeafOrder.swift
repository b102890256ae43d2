// SPDX-License-Identifier: MIT
import SystemSupport

/// Orders points so that every cluster's leaves are contiguous: its children in order, each with all its own leaves.
enum LeafOrder {
    /// Returns the points in that order, and for each cluster the start of its run. O(nodes).
    static func make(
        _ table: ClusterTable, parallel: Parallel
    ) throws(ClusteringError) -> (leaves: Scratch<UInt32>, starts: Scratch<UInt32>, count: Int) {
        let leaves = Scratch<UInt32>(capacity: table.pointCount)
        let starts = Scratch<UInt32>(capacity: table.count)
        let end = assignRoots(table, starts.slice, parallel)
        // Parents have a lower zoom than their children, so a run's start is known before it is filled.
        for range in table.ranges {
            try parallel.stopIfCancelled()
            parallel.forEachShare(of: range.count) { _, indexes in
                for index in indexes {
                    fill(Int(range.lowerBound) + index, table, leaves.slice, starts.slice)
                }
            }
        }
        return (leaves, starts, end)
    }

    /// Assigns a run to each cluster without a parent, from the last cluster to the first.
    ///
    /// - Returns: the end of the last run.
    private static func assignRoots(
        _ table: ClusterTable, _ starts: ScratchSlice<UInt32>, _ parallel: Parallel
    ) -> Int {
        /// Calls `body` with each cluster without a parent in a range that counts from the last cluster.
        func forEachRoot(_ range: Range<Int>, _ body: (Int) -> Void) {
            let parents = table.parents.from(table.pointCount)
            for index in range {
                let ordinal = table.count - 1 - index
                if parents[ordinal] == NodeNumber.none { body(ordinal) }
            }
        }
        let (before, total) = parallel.sums(of: table.count) { range in
            var sum = 0
            forEachRoot(range) { sum += Int(table.counts[$0]) }
            return sum
        }
        parallel.forEachShare(of: table.count) { share, range in
            var end = UInt32(truncatingIfNeeded: before[share])
            forEachRoot(range) { ordinal in
                starts[ordinal] = end
                end &+= table.counts[ordinal]
            }
        }
        return total
    }

    /// Assigns positions in the order to the points among a cluster's children, and runs to the clusters among them.
    @inline(__always) private static func fill(
        _ ordinal: Int, _ table: ClusterTable, _ leaves: ScratchSlice<UInt32>,
        _ starts: ScratchSlice<UInt32>
    ) {
        var index = starts[ordinal]
        for child in Int(table.childStarts[ordinal])..<Int(table.childStarts[ordinal + 1]) {
            let node = Int(table.children[child])
            if node < table.pointCount {
                leaves[Int(index)] = UInt32(truncatingIfNeeded: node)
                index &+= 1
            } else {
                starts[node - table.pointCount] = index
                index &+= table.counts[node - table.pointCount]
            }
        }
    }
}
