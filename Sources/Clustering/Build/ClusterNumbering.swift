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
    ///   - forEachCluster: calls its second argument with the former ordinal and the zoom of each cluster in a
    ///     range of slots, in slot order. It is called twice for each share: the first time no ordinals have been
    ///     assigned.
    func number(
        count: Int, forEachCluster: (Range<Int>, (_ former: Int, _ zoom: Int) -> UInt32?) -> Void
    ) {
        let zooms = table.ranges.count
        let shares = parallel.shares(of: count)
        // By share and zoom: first the number of clusters, later the next ordinal.
        let next = Scratch<UInt32>(repeating: 0, count: shares * zooms)
        func eachShare(_ body: (Range<Int>, UnsafeMutablePointer<UInt32>) -> Void) {
            parallel.run(shares) { share in
                let (start, end) = Parallel.bounds(share, of: shares, count: count)
                body(start..<end, next.base + share * zooms)
            }
        }
        eachShare { slots, counts in
            forEachCluster(slots) { _, zoom in
                counts[zoom] &+= 1
                return nil
            }
        }
        for (zoom, range) in table.ranges.enumerated() {
            var ordinal = range.lowerBound
            for place in stride(from: zoom, to: shares * zooms, by: zooms) {
                (next.base[place], ordinal) = (ordinal, ordinal &+ next.base[place])
            }
        }
        eachShare { slots, next in
            forEachCluster(slots) { former, zoom in
                let ordinal = next[zoom]
                next[zoom] = ordinal &+ 1
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

    private func inShares(_ body: (Int, Int) -> Void) { inShares(of: table.count, body) }

    private func inShares(of count: Int, _ body: (Int, Int) -> Void) {
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            body(start, end)
        }
    }

    /// Each zoom's ordinals in the order of the clusters' origins.
    private func sortedByOrigin() throws(ClusteringError) -> Scratch<UInt32> {
        let target = Scratch<UInt32>(capacity: table.count)
        let most = table.ranges.map(\.count).max() ?? 0
        let (keys, spare) = (Scratch<UInt64>(capacity: most), Scratch<UInt64>(capacity: most))
        for range in table.ranges {
            try parallel.stopIfCancelled()
            let first = Int(range.lowerBound)
            inShares(of: range.count) { start, end in
                for place in start..<end {
                    keys.base[place] =
                        UInt64(table.originIndexes.base[first + place]) << 32 | UInt64(first + place)
                }
            }
            RadixSort.sort(
                keys.base, spare: spare.base, count: range.count,
                bits: Int.bitWidth - table.pointCount.leadingZeroBitCount, by: OriginKey(),
                parallel: parallel)
            inShares(of: range.count) { start, end in
                for place in start..<end {
                    target.base[first + place] = UInt32(truncatingIfNeeded: keys.base[place])
                }
            }
        }
        return withExtendedLifetime(spare) { target }
    }

    private func moved<Value: BitwiseCopyable>(_ column: Scratch<Value>) -> Scratch<Value> {
        let target = Scratch<Value>(capacity: table.count)
        inShares { start, end in
            for ordinal in start..<end { target.base[ordinal] = column.base[Int(formers.base[ordinal])] }
        }
        return target
    }

    private func movedBehindPoints<Value: BitwiseCopyable>(_ column: Scratch<Value>) -> Scratch<Value> {
        let points = table.pointCount
        let target = Scratch<Value>(capacity: points + table.count)
        let shares = parallel.shares(of: points)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: points)
            (target.base + start).update(from: column.base + start, count: end - start)
        }
        inShares { start, end in
            for ordinal in start..<end {
                target.base[points + ordinal] = column.base[points + Int(formers.base[ordinal])]
            }
        }
        return target
    }

    private func moveChildren() {
        let (oldStarts, oldChildren) = (table.childStarts, table.children)
        let starts = Scratch<UInt32>(capacity: table.count + 1)
        let shares = parallel.shares(of: table.count)
        let sums = Scratch<Int>(capacity: shares)
        parallel.run(shares) { share in
            let (first, last) = Parallel.bounds(share, of: shares, count: table.count)
            var end: UInt32 = 0
            for ordinal in first..<last {
                let former = Int(formers.base[ordinal])
                starts.base[ordinal] = end
                end &+= oldStarts.base[former + 1] &- oldStarts.base[former]
            }
            sums.base[share] = Int(end)
        }
        var before = (0..<shares).map { sums.base[$0] }
        let count = Parallel.accumulate(&before)
        parallel.run(shares) { share in
            let (first, last) = Parallel.bounds(share, of: shares, count: table.count)
            let shift = UInt32(truncatingIfNeeded: before[share])
            for ordinal in first..<last { starts.base[ordinal] &+= shift }
        }
        starts.base[table.count] = UInt32(truncatingIfNeeded: count)
        let children = Scratch<UInt32>(capacity: count)
        inShares { first, last in
            for ordinal in first..<last {
                var source = Int(oldStarts.base[Int(formers.base[ordinal])])
                for target in Int(starts.base[ordinal])..<Int(starts.base[ordinal + 1]) {
                    children.base[target] = renumbered(node: oldChildren.base[source])
                    source += 1
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
        let points = table.pointCount
        let parents = table.parents
        let target = Scratch<UInt32>(capacity: points + table.count)
        func renumbered(_ parent: UInt32) -> UInt32 {
            parent == NodeNumber.none ? parent : ordinals.base[Int(parent)]
        }
        let shares = parallel.shares(of: points)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: points)
            for point in start..<end { target.base[point] = renumbered(parents.base[point]) }
        }
        inShares { start, end in
            for ordinal in start..<end {
                target.base[points + ordinal] = renumbered(parents.base[points + Int(formers.base[ordinal])])
            }
        }
        table.parents = target
    }
}

private struct OriginKey: RadixKey {
    @inline(__always) func key(_ element: UInt64) -> UInt64 { element &>> 32 }
}
