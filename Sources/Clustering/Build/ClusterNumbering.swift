// SPDX-License-Identifier: MIT
import SystemSupport

/// Renumbers a finished table's clusters, so that within a zoom ordinals follow the curve: what a map shows of
/// one area is then contiguous in every column.
struct ClusterNumbering {
    let table: ClusterTable
    let parallel: Parallel
    /// New ordinals, by former ordinal.
    let ordinals: Scratch<UInt32>
    /// Former ordinals, by new ordinal.
    let formers: Scratch<UInt32>

    init(_ table: ClusterTable, parallel: Parallel) {
        self.table = table
        self.parallel = parallel
        ordinals = Scratch(capacity: table.count)
        formers = Scratch(capacity: table.count)
    }

    /// Assigns new ordinals to all clusters.
    ///
    /// - Parameters:
    ///   - count: the number of slots along the curve.
    ///   - forEachCluster: calls its second argument with the former ordinal and the zoom of each cluster in a range of
    ///     slots, in slot order. It is called twice for each share: the first time no ordinals have been assigned.
    func number(count: Int, forEachCluster: (Range<Int>, (_ former: Int, _ zoom: Int) -> UInt32?) -> Void) {
        let zooms = table.ranges.count
        let shares = parallel.shares(of: count)
        // By share and zoom: first the number of clusters, later the next ordinal.
        let next = Scratch<UInt32>(repeating: 0, count: shares * zooms)
        parallel.forEachShare(of: count) { share, slots in
            forEachCluster(slots) { _, zoom in
                next.base[share * zooms + zoom] &+= 1
                return nil
            }
        }
        for (zoom, range) in table.ranges.enumerated() {
            var ordinal = range.lowerBound
            for index in stride(from: zoom, to: shares * zooms, by: zooms) {
                (next.base[index], ordinal) = (ordinal, ordinal &+ next.base[index])
            }
        }
        parallel.forEachShare(of: count) { share, slots in
            forEachCluster(slots) { former, zoom in
                let ordinal = next.base[share * zooms + zoom]
                next.base[share * zooms + zoom] = ordinal &+ 1
                ordinals.base[former] = ordinal
                formers.base[Int(ordinal)] = UInt32(truncatingIfNeeded: former)
                return ordinal
            }
        }
    }

    /// Reorders the table's columns accordingly. If it throws, the table must be discarded.
    func apply() throws(ClusteringError) {
        guard table.count > 0 else { return }
        try parallel.stopIfCancelled()
        moveChildren()
        try parallel.stopIfCancelled()
        table.x = moved(table.x)
        table.y = moved(table.y)
        try parallel.stopIfCancelled()
        table.counts = moved(table.counts)
        table.originIndexes = moved(table.originIndexes)
        table.ordinalsByOrigin = try sortedByOrigin()
        try parallel.stopIfCancelled()
        moveParents()
        try parallel.stopIfCancelled()
        table.weights = table.weights.map(movedBehindPoints)
        table.partitions = table.partitions.map(movedBehindPoints)
    }

    /// Each zoom's ordinals in the order of the clusters' origins.
    private func sortedByOrigin() throws(ClusteringError) -> Scratch<UInt32> {
        let target = Scratch<UInt32>(capacity: table.count)
        let most = table.ranges.map(\.count).max() ?? 0
        let (keys, spare) = (Scratch<UInt64>(capacity: most), Scratch<UInt64>(capacity: most))
        for range in table.ranges {
            try parallel.stopIfCancelled()
            let first = Int(range.lowerBound)
            parallel.forEachShare(of: range.count) { _, indexes in
                for index in indexes {
                    keys.base[index] = UInt64(table.originIndexes.base[first + index]) << 32 | UInt64(first + index)
                }
            }
            RadixSort.sort(
                keys.base, spare: spare.base, count: range.count,
                bits: Int.bitWidth - table.pointCount.leadingZeroBitCount, by: UpperHalf(), parallel: parallel)
            parallel.forEachShare(of: range.count) { _, indexes in
                for index in indexes {
                    target.base[first + index] = UInt32(truncatingIfNeeded: keys.base[index])
                }
            }
        }
        return withExtendedLifetime(spare) { target }
    }

    /// A column by cluster in the new order.
    private func moved<Value: BitwiseCopyable>(_ column: Scratch<Value>) -> Scratch<Value> {
        moved(column, after: 0) { $0 }
    }

    /// A column by node in the new order.
    private func movedBehindPoints<Value: BitwiseCopyable>(_ column: Scratch<Value>) -> Scratch<Value> {
        moved(column, after: table.pointCount) { $0 }
    }

    @inline(__always) private func moved<Value: BitwiseCopyable>(
        _ column: Scratch<Value>, after points: Int, _ change: (Value) -> Value
    ) -> Scratch<Value> {
        let target = Scratch<Value>(capacity: points + table.count)
        parallel.forEachShare(of: points) { _, points in
            for point in points { target.base[point] = change(column.base[point]) }
        }
        parallel.forEachShare(of: table.count) { _, clusters in
            for ordinal in clusters {
                target.base[points + ordinal] = change(column.base[points + Int(formers.base[ordinal])])
            }
        }
        return target
    }

    private func moveChildren() {
        let (oldStarts, oldChildren) = (table.childStarts, table.children)
        func childCount(_ ordinal: Int) -> UInt32 {
            let former = Int(formers.base[ordinal])
            return oldStarts.base[former + 1] &- oldStarts.base[former]
        }
        let starts = Scratch<UInt32>(capacity: table.count + 1)
        let (before, total) = parallel.sums(of: table.count) { clusters in
            clusters.reduce(0) { $0 &+ Int(childCount($1)) }
        }
        starts.base[table.count] = UInt32(truncatingIfNeeded: total)
        let children = Scratch<UInt32>(capacity: total)
        parallel.forEachShare(of: table.count) { share, clusters in
            var target = UInt32(truncatingIfNeeded: before[share])
            for ordinal in clusters {
                starts.base[ordinal] = target
                let source = Int(oldStarts.base[Int(formers.base[ordinal])])
                for child in source..<source + Int(childCount(ordinal)) {
                    children.base[Int(target)] = renumbered(node: oldChildren.base[child])
                    target &+= 1
                }
            }
        }
        table.childStarts = starts
        table.children = children
    }

    @inline(__always) private func renumbered(node: UInt32) -> UInt32 {
        let points = UInt32(truncatingIfNeeded: table.pointCount)
        return node < points ? node : ordinals.base[Int(node &- points)] &+ points
    }

    private func moveParents() {
        table.parents = moved(table.parents, after: table.pointCount) { parent in
            parent == NodeNumber.none ? parent : ordinals.base[Int(parent)]
        }
    }
}
