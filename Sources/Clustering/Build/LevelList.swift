// SPDX-License-Identifier: MIT
import SystemSupport

/// The nodes alive at a level, in rows from north to south, each row from west to east.
///
/// A row is at least one radius high, so a node's neighbours lie in its own row and the two adjacent ones. The
/// radius doubles from a zoom to the next shallower one, so two rows become one by a merge. Nodes of different
/// partitions are in separate rows, which are never adjacent.
///
/// Invariant: `entries[rowStarts[i]..<rowStarts[i + 1]]` are all the nodes with row key `rowKeys[i]`, in
/// ascending x; row keys ascend strictly; `rowStarts[rowCount] == count`.
final class LevelList<Scalar: Coordinate> {
    typealias Entry = LevelEntry<Scalar>

    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var count: Int
    private(set) var rowKeys: Scratch<UInt64>
    private(set) var rowStarts: Scratch<UInt32>
    private(set) var rowCount = 0
    /// The height of a row at the deepest zoom; the current height is `2^doublings` times that.
    private(set) var rowHeight: Double
    private var doublings = 0

    /// The current height of a row.
    var height: Double { rowHeight * Double(sign: .plus, exponent: doublings, significand: 1) }
    /// A distance in y greater than that of any two nodes in adjacent rows, rounding included.
    var rowSpan: Scalar { Scalar(3 * height) }

    private var spare: UnsafeMutablePointer<Entry>
    private let first: Scratch<Entry>
    private let second: Scratch<Entry>
    private let arriving: Scratch<Entry>
    private let arrivingSpare: Scratch<Entry>
    private var spareKeys: Scratch<UInt64>
    private var spareStarts: Scratch<UInt32>
    /// By node, if there are partitions.
    let partitions: UnsafePointer<UInt32>?
    private let parallel: Parallel

    /// If the build is cancelled, the list is unusable.
    ///
    /// - Parameter partitions: each node's partition, if points of different partitions must not cluster. The
    ///   memory must stay valid, and contain every cluster's partition before the cluster arrives.
    init(
        capacity: Int, rowHeight: Double, partitions: UnsafePointer<UInt32>?, parallel: Parallel,
        fill: (UnsafeMutablePointer<Entry>) -> Void
    ) {
        first = Scratch(capacity: capacity)
        second = Scratch(capacity: capacity)
        arriving = Scratch(atMost: capacity)
        arrivingSpare = Scratch(atMost: capacity)
        entries = first.base
        spare = second.base
        count = capacity
        // A merge needs room for one row per old row and per arrival: at most one arrival for two nodes.
        let rows = capacity + capacity / 2 + 1
        (rowKeys, rowStarts) = (Scratch(atMost: rows), Scratch(atMost: rows))
        (spareKeys, spareStarts) = (Scratch(atMost: rows), Scratch(atMost: rows))
        self.rowHeight = rowHeight
        self.partitions = partitions
        self.parallel = parallel
        fill(entries)
        if parallel.isCancelled() { return }
        doublings = firstDoublings()
        sort(entries, spare: spare, count: count)
        if !parallel.isCancelled() { findRows() }
    }

    /// A row's key: the partition in the upper half, the row's number in the lower.
    @inline(__always) private func rowKey(_ entry: Entry) -> UInt64 {
        RowKey(scale: 1 / rowHeight, doublings: UInt64(doublings), partitions: partitions).key(entry)
    }

    /// Sorts entries by row, and each row's by x.
    private func sort(_ entries: UnsafeMutablePointer<Entry>, spare: UnsafeMutablePointer<Entry>, count: Int) {
        let row = RowKey<Scalar>(scale: 1 / rowHeight, doublings: UInt64(doublings), partitions: partitions)
        let rows = (UInt64(1 / rowHeight) &+ 1) &>> UInt64(doublings)
        let rowBits = partitions == nil ? UInt64.bitWidth - rows.leadingZeroBitCount : 64
        if rowBits + Scalar.orderedBitCount <= 64 {
            return RadixSort.sort(
                entries, spare: spare, count: count, bits: rowBits + Scalar.orderedBitCount,
                by: RowAndXKey(row: row), parallel: parallel)
        }
        RadixSort.sort(
            entries, spare: spare, count: count, bits: Scalar.orderedBitCount, by: XKey<Scalar>(), parallel: parallel)
        RadixSort.sort(entries, spare: spare, count: count, bits: rowBits, by: row, parallel: parallel)
    }

    private func findRows() {
        let (before, total) = parallel.sums(of: count) { range in
            var rows = 0
            self.forEachRowStart(range) { _, _ in rows += 1 }
            return rows
        }
        rowCount = total
        parallel.forEachShare(of: count) { share, range in
            var row = before[share]
            self.forEachRowStart(range) { index, key in
                self.rowKeys.base[row] = key
                self.rowStarts.base[row] = UInt32(truncatingIfNeeded: index)
                row += 1
            }
        }
        rowStarts.base[rowCount] = UInt32(truncatingIfNeeded: count)
    }

    /// Calls `body` with the index of each entry of a range that is the first of its row, and with the row's key.
    @inline(__always) private func forEachRowStart(_ range: Range<Int>, _ body: (Int, UInt64) -> Void) {
        var previous = range.lowerBound > 0 ? rowKey(entries[range.lowerBound - 1]) : UInt64.max
        for index in range {
            let key = rowKey(entries[index])
            if key != previous { body(index, key) }
            previous = key
        }
    }

    /// Room for the clusters that arrive at the next level, as many as the list has nodes.
    var arrivals: UnsafeMutablePointer<Entry> { arriving.base }

    /// Memory for a number by position, valid until `advance` needs it.
    var numbers: UnsafeMutablePointer<UInt32> {
        UnsafeMutableRawPointer(spare).bindMemory(to: UInt32.self, capacity: first.capacity)
    }

    /// Removes the nodes whose state has `removedBit`, inserts the arrivals by position, and makes rows at least
    /// `height` high.
    ///
    /// - Parameters:
    ///   - states: by position; not read if nothing arrived.
    ///   - arrived: the number of `arrivals`: at most one for two nodes.
    /// - Complexity: one pass over the nodes for each doubling of the rows' height.
    func advance(states: UnsafePointer<UInt8>, arrived: Int, height: Double) {
        var doubles = 0
        while rowHeight * Double(sign: .plus, exponent: doublings + doubles, significand: 1) < height {
            doubles += 1
        }
        if arrived == 0 && doubles == 0 { return }
        spare = UnsafeMutableRawPointer(spare).bindMemory(to: Entry.self, capacity: first.capacity)
        doublings += min(doubles, 1)
        sort(arrivals, spare: arrivingSpare.base, count: arrived)
        if parallel.isCancelled() { return }
        merge(states: arrived > 0 ? states : nil, doubling: doubles > 0, arrivals: arrivals, arrivalCount: arrived)
        for _ in 0..<max(0, doubles - 1) where !parallel.isCancelled() {
            doublings += 1
            merge(states: nil, doubling: true, arrivals: arrivals, arrivalCount: 0)
        }
    }

    /// Frees memory that neither this level nor later ones need: each level has fewer nodes than the one before. Memory
    /// that the next level uses again is kept, because the system would have to clear it first.
    func releaseUnneeded() {
        for entries in [first, second] { entries.release(after: count) }
        for entries in [arriving, arrivingSpare] { entries.release(after: count / 2) }
    }

    /// One share of a merge: the rows it reads and the arrivals it inserts.
    private struct Share {
        var rows: Range<Int>
        var arrivals: Range<Int>
        var outputStart: Int
        var rowOutputStart: Int
        var rowOutputCount = 0
    }

    private func merge(
        states: UnsafePointer<UInt8>?, doubling: Bool, arrivals: UnsafeMutablePointer<Entry>, arrivalCount: Int
    ) {
        var shares = plan(doubling: doubling, arrivals: arrivals, arrivalCount: arrivalCount)
        let shareCount = shares.count
        assignOutputs(&shares, survivors: survivors(in: shares, states))
        shares.withUnsafeMutableBufferPointer { buffer in
            // Each share accesses only its own element of the buffer and its own part of the outputs.
            let plans = Unchecked(buffer.baseAddress)
            parallel.run(shareCount) { index in
                guard let plan = plans.value else { return }
                self.mergeShare(
                    &plan[index], states: states, doubling: doubling, arrivals: arrivals,
                    keys: self.spareKeys.base, starts: self.spareStarts.base)
            }
        }
        takeOverRows(of: shares)
        swap(&entries, &spare)
    }

    /// Divides the rows into shares so that no two rows that become one are separated.
    private func plan(doubling: Bool, arrivals: UnsafeMutablePointer<Entry>, arrivalCount: Int) -> [Share] {
        let shareCount = parallel.shares(of: count)
        var shares: [Share] = []
        var row = 0
        var arrival = 0
        for index in 0..<shareCount {
            var endRow = rowCount
            var endArrival = arrivalCount
            if index < shareCount - 1 {
                endRow = max(row, rowIndex(containing: count * (index + 1) / shareCount))
                if doubling, endRow > row, endRow < rowCount,
                    Self.doubled(rowKeys.base[endRow - 1]) == Self.doubled(rowKeys.base[endRow])
                {
                    endRow += 1
                }
                if endRow < rowCount {
                    let key = doubling ? Self.doubled(rowKeys.base[endRow]) : rowKeys.base[endRow]
                    endArrival = max(arrival, firstArrival(arrivals, arrivalCount, notBefore: key))
                }
            }
            shares.append(Share(rows: row..<endRow, arrivals: arrival..<endArrival, outputStart: 0, rowOutputStart: 0))
            (row, arrival) = (endRow, endArrival)
        }
        return shares
    }

    /// The number of nodes that remain of each share's rows.
    private func survivors(in shares: [Share], _ states: UnsafePointer<UInt8>?) -> [Int] {
        var counts = shares.map {
            Int(rowStarts.base[$0.rows.upperBound]) - Int(rowStarts.base[$0.rows.lowerBound])
        }
        guard let states else { return counts }
        counts.withUnsafeMutableBufferPointer { counts in
            let target = Unchecked(counts)
            parallel.run(shares.count) { share in
                let rows = shares[share].rows
                let start = Int(self.rowStarts.base[rows.lowerBound])
                let end = Int(self.rowStarts.base[rows.upperBound])
                var removed = 0
                for position in start..<end { removed &+= Int(states[position] & ClaimState.removedBit) }
                target.value[share] -= removed
            }
        }
        return counts
    }

    /// Assigns each share its part of the output.
    private func assignOutputs(_ shares: inout [Share], survivors: [Int]) {
        var (output, rowOutput) = (0, 0)
        for (index, survivors) in survivors.enumerated() {
            shares[index].outputStart = output
            shares[index].rowOutputStart = rowOutput
            output += survivors + shares[index].arrivals.count
            rowOutput += shares[index].rows.count + shares[index].arrivals.count
        }
        count = output
    }

    private func mergeShare(
        _ share: inout Share, states: UnsafePointer<UInt8>?, doubling: Bool,
        arrivals: UnsafeMutablePointer<Entry>, keys: UnsafeMutablePointer<UInt64>,
        starts: UnsafeMutablePointer<UInt32>
    ) {
        var row = share.rows.lowerBound
        var arrival = share.arrivals.lowerBound
        var output = share.outputStart
        var rowOutput = share.rowOutputStart
        while row < share.rows.upperBound || arrival < share.arrivals.upperBound {
            var key = UInt64.max
            if row < share.rows.upperBound {
                key = doubling ? Self.doubled(rowKeys.base[row]) : rowKeys.base[row]
            }
            if arrival < share.arrivals.upperBound { key = min(key, rowKey(arrivals[arrival])) }
            let begin = output
            output = takeRows(
                &row, until: share.rows.upperBound, key: key, doubling: doubling, states: states, output: output)
            let firstArrival = arrival
            while arrival < share.arrivals.upperBound, rowKey(arrivals[arrival]) == key { arrival += 1 }
            if arrival > firstArrival {
                insert(arrivals + firstArrival, arrival - firstArrival, begin: begin, end: output)
                output += arrival - firstArrival
            }
            if output > begin {
                keys[rowOutput] = key
                starts[rowOutput] = UInt32(truncatingIfNeeded: begin)
                rowOutput += 1
            }
        }
        share.rowOutputCount = rowOutput - share.rowOutputStart
    }

    /// Writes the remaining nodes of the one or two old rows that become the row `key`; returns the end of the output.
    @inline(__always) private func takeRows(
        _ row: inout Int, until end: Int, key: UInt64, doubling: Bool, states: UnsafePointer<UInt8>?, output: Int
    ) -> Int {
        guard row < end, (doubling ? Self.doubled(rowKeys.base[row]) : rowKeys.base[row]) == key else {
            return output
        }
        let upper = survivors(of: row, states)
        row += 1
        guard doubling, row < end, Self.doubled(rowKeys.base[row]) == key else {
            (spare + output).update(from: entries + upper.start, count: upper.end - upper.start)
            return output + upper.end - upper.start
        }
        let lower = survivors(of: row, states)
        row += 1
        return mergeRuns(upper, lower, into: output)
    }

    /// Moves a row's remaining nodes to its front.
    @inline(__always) private func survivors(of row: Int, _ states: UnsafePointer<UInt8>?) -> (start: Int, end: Int) {
        let start = Int(rowStarts.base[row])
        let end = Int(rowStarts.base[row + 1])
        guard let states else { return (start, end) }
        var kept = start
        for position in start..<end {
            entries[kept] = entries[position]
            kept &+= Int(~states[position] & ClaimState.removedBit)
        }
        return (start, kept)
    }

    @inline(__always) private func mergeRuns(
        _ a: (start: Int, end: Int), _ b: (start: Int, end: Int), into output: Int
    ) -> Int {
        var (i, j, k) = (a.start, b.start, output)
        while i < a.end && j < b.end {
            let takeFirst = entries[i].x <= entries[j].x
            spare[k] = entries[takeFirst ? i : j]
            i &+= takeFirst ? 1 : 0
            j &+= takeFirst ? 0 : 1
            k &+= 1
        }
        (spare + k).update(from: entries + i, count: a.end - i)
        k += a.end - i
        (spare + k).update(from: entries + j, count: b.end - j)
        return k + b.end - j
    }

    /// Merges arrivals, in ascending x, into the row just written, starting at its end.
    private func insert(_ arrivals: UnsafeMutablePointer<Entry>, _ added: Int, begin: Int, end: Int) {
        var (i, j, k) = (end - 1, added - 1, end + added - 1)
        while j >= 0 {
            if i >= begin && spare[i].x > arrivals[j].x {
                spare[k] = spare[i]
                i -= 1
            } else {
                spare[k] = arrivals[j]
                j -= 1
            }
            k -= 1
        }
    }

    /// Makes the rows that the shares have written, with gaps between the shares, the list's rows, without gaps.
    private func takeOverRows(of shares: [Share]) {
        if shares.count == 1 {
            swap(&rowKeys, &spareKeys)
            swap(&rowStarts, &spareStarts)
            rowCount = shares[0].rowOutputCount
        } else {
            var firstRows = shares.map(\.rowOutputCount)
            rowCount = Parallel.accumulate(&firstRows)
            parallel.run(shares.count) { index in
                let (share, row) = (shares[index], firstRows[index])
                (rowKeys.base + row).update(from: spareKeys.base + share.rowOutputStart, count: share.rowOutputCount)
                (rowStarts.base + row).update(
                    from: spareStarts.base + share.rowOutputStart, count: share.rowOutputCount)
            }
        }
        rowStarts.base[rowCount] = UInt32(truncatingIfNeeded: count)
    }

    /// Replaces every node's order by the value of `newOrders` at that order.
    func renumber(_ newOrders: UnsafePointer<UInt32>) {
        for position in 0..<count { entries[position].order = newOrders[Int(entries[position].order)] }
    }

    /// The greatest y that is certainly more than a distance north of all nodes of the row below.
    func southEdge(ofRow row: Int, reduced distance: Scalar) -> Scalar {
        let next = UInt64(UInt32(truncatingIfNeeded: rowKeys.base[row])) + 1
        let edge = Double(next &<< UInt64(doublings)) * rowHeight
        return Scalar(edge * (1 - 0x1p-50) - Double(distance)).nextDown
    }

    /// Calls `body` with the position of each node of a partition that is within a distance of a place along the
    /// x-axis, and in a row within that distance, until it returns false.
    func visit(
        aroundX x: Double, y: Double, distance: Double, partition: UInt32, _ body: (Int) -> Bool
    ) {
        func key(_ y: Double) -> UInt64 {
            UInt64(partition) &<< 32 | UInt64(UInt32(max(0, min(1, y)) / rowHeight)) &>> UInt64(doublings)
        }
        // A row more on each side, since rows were found by a product instead of the quotient.
        let (first, last) = (key(y - distance), key(y + distance) &+ 1)
        let start = first & 0xffff_ffff > 0 ? first - 1 : first
        var row = (0..<rowCount).partitionIndex { rowKeys.base[$0] < start }
        while row < rowCount, rowKeys.base[row] <= last {
            let end = Int(rowStarts.base[row + 1])
            var position = (Int(rowStarts.base[row])..<end).partitionIndex { Double(entries[$0].x) < x - distance }
            while position < end, Double(entries[position].x) <= x + distance {
                if !body(position) { return }
                position += 1
            }
            row += 1
        }
    }

    /// The row that holds the entry at `position`. O(log rows).
    func rowIndex(containing position: Int) -> Int {
        (0..<rowCount).partitionIndex { Int(rowStarts.base[$0 + 1]) <= position }
    }

    private func firstArrival(_ arrivals: UnsafeMutablePointer<Entry>, _ count: Int, notBefore key: UInt64) -> Int {
        (0..<count).partitionIndex { rowKey(arrivals[$0]) < key }
    }

    /// The key of the row of double height that contains a row.
    @inline(__always) private static func doubled(_ key: UInt64) -> UInt64 {
        (key & 0xFFFF_FFFF_0000_0000) | ((key & 0xFFFF_FFFF) &>> 1)
    }
}

private struct XKey<Scalar: Coordinate>: RadixKey {
    @inline(__always) func key(_ entry: LevelEntry<Scalar>) -> UInt64 { entry.x.orderedBits }
}

/// The row, then x in the lowest bits.
private struct RowAndXKey<Scalar: Coordinate>: RadixKey {
    let row: RowKey<Scalar>

    @inline(__always) func key(_ entry: LevelEntry<Scalar>) -> UInt64 {
        row.key(entry) &<< UInt64(Scalar.orderedBitCount) | entry.x.orderedBits
    }
}

private struct RowKey<Scalar: Coordinate>: RadixKey {
    let scale: Double
    let doublings: UInt64
    let partitions: UnsafePointer<UInt32>?

    @inline(__always) func key(_ entry: LevelEntry<Scalar>) -> UInt64 {
        let row = UInt64(UInt32(Double(entry.y) * scale)) &>> doublings
        guard let partitions else { return row }
        return UInt64(partitions[Int(entry.node)]) &<< 32 | row
    }
}
