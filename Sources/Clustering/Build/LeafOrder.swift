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
        let end = placeRoots(table, starts.base, parallel)
        // Parents have a lower zoom than their children, so a run's start is known before it is filled.
        for range in table.ranges {
            try parallel.stopIfCancelled()
            let shares = parallel.shares(of: range.count)
            parallel.run(shares) { share in
                let (first, last) = Parallel.bounds(share, of: shares, count: range.count)
                for index in first..<last {
                    fill(Int(range.lowerBound) + index, table, leaves.base, starts.base)
                }
            }
        }
        return (leaves, starts, end)
    }

    /// Assigns a run to each cluster without a parent, from the last cluster to the first.
    ///
    /// - Returns: the end of the last run.
    private static func placeRoots(
        _ table: ClusterTable, _ starts: UnsafeMutablePointer<UInt32>, _ parallel: Parallel
    ) -> Int {
        let shares = parallel.shares(of: table.count)
        /// Calls `body` with each of a share's clusters without a parent.
        func forEachRoot(_ share: Int, _ body: (Int) -> Void) {
            // The first share has the last clusters.
            let (first, last) = Parallel.bounds(shares - 1 - share, of: shares, count: table.count)
            let parents = table.parents.base + table.pointCount
            var ordinal = last - 1
            while ordinal >= first {
                if parents[ordinal] == NodeNumber.none { body(ordinal) }
                ordinal -= 1
            }
        }
        let sums = Scratch<Int>(capacity: shares)
        parallel.run(shares) { share in
            var sum = 0
            forEachRoot(share) { sum += Int(table.counts.base[$0]) }
            sums.base[share] = sum
        }
        var before = (0..<shares).map { sums.base[$0] }
        let count = Parallel.accumulate(&before)
        parallel.run(shares) { share in
            var end = UInt32(truncatingIfNeeded: before[share])
            forEachRoot(share) { ordinal in
                starts[ordinal] = end
                end &+= table.counts.base[ordinal]
            }
        }
        return count
    }

    /// Assigns positions in the order to the points among a cluster's children, and runs to the clusters among them.
    @inline(__always) private static func fill(
        _ ordinal: Int, _ table: ClusterTable, _ leaves: UnsafeMutablePointer<UInt32>,
        _ starts: UnsafeMutablePointer<UInt32>
    ) {
        var place = starts[ordinal]
        for child in Int(table.childStarts.base[ordinal])..<Int(table.childStarts.base[ordinal + 1]) {
            let node = Int(table.children.base[child])
            if node < table.pointCount {
                leaves[Int(place)] = UInt32(truncatingIfNeeded: node)
                place &+= 1
            } else {
                starts[node - table.pointCount] = place
                place &+= table.counts.base[node - table.pointCount]
            }
        }
    }
}
