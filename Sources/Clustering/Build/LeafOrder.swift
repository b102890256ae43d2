// SPDX-License-Identifier: MIT

/// Lays points out so that every cluster's leaves are one run: children in order, each with all its own.
enum LeafOrder {
    /// Returns the points in that order, and by cluster where its run starts. O(nodes).
    static func make(_ table: ClusterTable) -> (leaves: Scratch<UInt32>, starts: Scratch<UInt32>, count: Int)
    {
        let leaves = Scratch<UInt32>(capacity: table.pointCount)
        let starts = Scratch<UInt32>(capacity: table.count)
        let pointCount = table.pointCount
        var end: UInt32 = 0
        // Parents have greater ordinals than their children, so a run is known before it is filled.
        var ordinal = table.count - 1
        while ordinal >= 0 {
            if table.parents.base[pointCount + ordinal] == NodeNumber.none {
                starts.base[ordinal] = end
                end &+= table.counts.base[ordinal]
            }
            var place = starts.base[ordinal]
            var child = Int(table.childStarts.base[ordinal])
            let childEnd = Int(table.childStarts.base[ordinal + 1])
            while child < childEnd {
                let node = Int(table.children.base[child])
                if node < pointCount {
                    leaves.base[Int(place)] = UInt32(truncatingIfNeeded: node)
                    place &+= 1
                } else {
                    starts.base[node - pointCount] = place
                    place &+= table.counts.base[node - pointCount]
                }
                child += 1
            }
            ordinal -= 1
        }
        return (leaves, starts, Int(end))
    }
}
