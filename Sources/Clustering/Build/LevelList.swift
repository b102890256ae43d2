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

    private(set) var entries: ScratchSlice<Entry>
    private(set) var count: Int
    private(set) var rowKeys: Scratch<UInt64>
    private(set) var rowStarts: Scratch<UInt32>
    private(set) var rowCount = 0
    /// The height of a row at the deepest zoom; the current height is `2^doublings` times that.
    private(set) var rowHeight: Double
    private var doublings = 0

    /// A distance in y greater than that of any two nodes in adjacent rows, rounding included.
    var rowSpan: Scalar { Scalar(3 * rowHeight * Double(sign: .plus, exponent: doublings, significand: 1)) }

    private var spare: ScratchSlice<Entry>
    private let first: Scratch<Entry>
    private let second: Scratch<Entry>
    private let arriving: Scratch<Entry>
    private let arrivingSpare: Scratch<Entry>
    private var spareKeys: Scratch<UInt64>
    private var spareStarts: Scratch<UInt32>
    /// By node, if there are partitions.
    let partitions: ScratchSlice<UInt32>?
    private let parallel: Parallel

    /// If the build is cancelled, the list is unusable.
    ///
    /// - Parameter partitions: each node's partition, if points of different partitions must not cluster. The
    ///   memory must stay valid, and contain every cluster's partition before the cluster arrives.
    init(
        capacity: Int, rowHeight: Double, partitions: ScratchSlice<UInt32>?, parallel: Parallel,
        fill: (ScratchSlice<Entry>) -> Void
    ) {
        first = Scratch(capacity: capacity)
        second = Scratch(capacity: capacity)
        arriving = Scratch(atMost: capacity)
        arrivingSpare = Scratch(atMost: capacity)
        entries = first.slice
        spare = second.slice
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
    private func sort(_ entries: ScratchSlice<Entry>, spare: ScratchSlice<Entry>, count: Int) {
        let row = RowKey<Scalar>(scale: 1 / rowHeight, doublings: UInt64(doublings), partitions: partitions)
        let rows = (UInt64(1 / rowHeight) &+ 1) &>> UInt64(doublings)
        let rowBits = partitions == nil ? UInt64.bitWidth - rows.leadingZeroBitCount : 64
        if rowBits + Scalar.orderedBitCount <= 64 {
            return RadixSort.sort(
                entries, spare: spare, count: count, bits: rowBits + Scalar.orderedBitCount,
                by: RowAndXKey(row: row), parallel: parallel)
        }
        RadixSort.sort(
            entries, spare: spare, count: count, bits: Scalar.orderedBitCount, by: XKey<Scalar>(),
            parallel: parallel)
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
                self.rowKeys[row] = key
                self.rowStarts[row] = UInt32(truncatingIfNeeded: index)
                row += 1
            }
        }
        rowStarts[rowCount] = UInt32(truncatingIfNeeded: count)
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
    var arrivals: ScratchSlice<Entry> { arriving.slice }

    /// Memory for a number by position, valid until `advance` needs it.
    var numbers: ScratchSlice<UInt32> { spare.reused(as: UInt32.self) }

    /// Removes the nodes whose state has `removedBit`, inserts the arrivals by position, and makes rows at least
    /// `height` high.
    ///
    /// - Parameters:
    ///   - states: by position; not read if nothing arrived.
    ///   - arrived: the number of `arrivals`: at most one for two nodes.
    /// - Complexity: one pass over the nodes for each doubling of the rows' height.
    func advance(states: ScratchSlice<UInt8>, arrived: Int, height: Double) {
        var doubles = 0
        while rowHeight * Double(sign: .plus, exponent: doublings + doubles, significand: 1) < height {
            doubles += 1
        }
        if arrived == 0 && doubles == 0 { return }
        spare = spare.reused(as: Entry.self)
        doublings += min(doubles, 1)
        sort(arrivals, spare: arrivingSpare.slice, count: arrived)
        if parallel.isCancelled() { return }
        merge(
            states: arrived > 0 ? states : nil, doubling: doubles > 0, arrivals: arrivals,
            arrivalCount: arrived)
        for _ in 0..<max(0, doubles - 1) where !parallel.isCancelled() {
            doublings += 1
            merge(states: nil, doubling: true, arrivals: arrivals, arrivalCount: 0)
        }
    }

    /// Frees memory that neither this level nor later ones need: each level has fewer nodes than the one before. Memory that the next
    /// level uses again is kept, because the system would have to clear it first.
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
        states: ScratchSlice<UInt8>?, doubling: Bool, arrivals: ScratchSlice<Entry>,
        arrivalCount: Int
    ) {
        var shares = plan(doubling: doubling, arrivals: arrivals, arrivalCount: arrivalCount)
        assignOutputs(&shares, survivors: survivors(in: shares, states))
        // Each share accesses only its own part of the outputs.
        parallel.forEach(&shares) { _, share in
            self.mergeShare(
                &share, states: states, doubling: doubling, arrivals: arrivals,
                keys: self.spareKeys.slice, starts: self.spareStarts.slice)
        }
        takeOverRows(of: shares)
        swap(&entries, &spare)
    }

    /// Divides the rows into shares so that no two rows that become one are separated.
    private func plan(
        doubling: Bool, arrivals: ScratchSlice<Entry>, arrivalCount: Int
    ) -> [Share] {
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
                    Self.doubled(rowKeys[endRow - 1]) == Self.doubled(rowKeys[endRow])
                {
                    endRow += 1
                }
                if endRow < rowCount {
                    let key = doubling ? Self.doubled(rowKeys[endRow]) : rowKeys[endRow]
                    endArrival = max(arrival, firstArrival(arrivals, arrivalCount, notBefore: key))
                }
            }
            shares.append(
                Share(rows: row..<endRow, arrivals: arrival..<endArrival, outputStart: 0, rowOutputStart: 0))
            (row, arrival) = (endRow, endArrival)
        }
        return shares
    }

    /// The number of nodes that remain of each share's rows.
    private func survivors(in shares: [Share], _ states: ScratchSlice<UInt8>?) -> [Int] {
        let positions = shares.map {
            Int(rowStarts[$0.rows.lowerBound])..<Int(rowStarts[$0.rows.upperBound])
        }
        guard let states else { return positions.map(\.count) }
        return parallel.map(shares.count) { share, _ in
            var removed = 0
            for position in positions[share] { removed &+= Int(states[position] & ClaimState.removedBit) }
            return positions[share].count - removed
        }
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
        _ share: inout Share, states: ScratchSlice<UInt8>?, doubling: Bool,
        arrivals: ScratchSlice<Entry>, keys: ScratchSlice<UInt64>,
        starts: ScratchSlice<UInt32>
    ) {
        var row = share.rows.lowerBound
        var arrival = share.arrivals.lowerBound
        var output = share.outputStart
        var rowOutput = share.rowOutputStart
        while row < share.rows.upperBound || arrival < share.arrivals.upperBound {
            var key = UInt64.max
            if row < share.rows.upperBound {
                key = doubling ? Self.doubled(rowKeys[row]) : rowKeys[row]
            }
            if arrival < share.arrivals.upperBound { key = min(key, rowKey(arrivals[arrival])) }
            let begin = output
            output = takeRows(
                &row, until: share.rows.upperBound, key: key, doubling: doubling, states: states,
                output: output
            )
            let firstArrival = arrival
            while arrival < share.arrivals.upperBound, rowKey(arrivals[arrival]) == key { arrival += 1 }
            if arrival > firstArrival {
                insert(arrivals.from(firstArrival), arrival - firstArrival, begin: begin, end: output)
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

    /// Writes the remaining nodes of the one or two old rows that become the row `key`; returns the end of the
    /// output.
    @inline(__always) private func takeRows(
        _ row: inout Int, until end: Int, key: UInt64, doubling: Bool, states: ScratchSlice<UInt8>?,
        output: Int
    ) -> Int {
        guard row < end, (doubling ? Self.doubled(rowKeys[row]) : rowKeys[row]) == key else {
            return output
        }
        let upper = survivors(of: row, states)
        row += 1
        guard doubling, row < end, Self.doubled(rowKeys[row]) == key else {
            spare.from(output).copy(upper.end - upper.start, from: entries.from(upper.start))
            return output + upper.end - upper.start
        }
        let lower = survivors(of: row, states)
        row += 1
        return mergeRuns(upper, lower, into: output)
    }

    /// Moves a row's remaining nodes to its front.
    @inline(__always) private func survivors(
        of row: Int, _ states: ScratchSlice<UInt8>?
    ) -> (start: Int, end: Int) {
        let start = Int(rowStarts[row])
        let end = Int(rowStarts[row + 1])
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
        spare.from(k).copy(a.end - i, from: entries.from(i))
        k += a.end - i
        spare.from(k).copy(b.end - j, from: entries.from(j))
        return k + b.end - j
    }

    /// Merges arrivals, in ascending x, into the row just written, starting at its end.
    private func insert(_ arrivals: ScratchSlice<Entry>, _ added: Int, begin: Int, end: Int) {
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
                rowKeys.from(row).copy(share.rowOutputCount, from: spareKeys.from(share.rowOutputStart))
                rowStarts.from(row).copy(share.rowOutputCount, from: spareStarts.from(share.rowOutputStart))
            }
        }
        rowStarts[rowCount] = UInt32(truncatingIfNeeded: count)
    }

    /// Replaces every node's order by the value of `newOrders` at that order.
    func renumber(_ newOrders: Scratch<UInt32>) {
        for position in 0..<count { entries[position].order = newOrders[Int(entries[position].order)] }
    }

    /// The greatest y that is certainly more than a distance north of all nodes of the row below.
    func southEdge(ofRow row: Int, reduced distance: Scalar) -> Scalar {
        let next = UInt64(UInt32(truncatingIfNeeded: rowKeys[row])) + 1
        let edge = Double(next &<< UInt64(doublings)) * rowHeight
        return Scalar(edge * (1 - 0x1p-50) - Double(distance)).nextDown
    }

    /// The row that holds the entry at `position`. O(log rows).
    func rowIndex(containing position: Int) -> Int {
        (0..<rowCount).partitionIndex { Int(rowStarts[$0 + 1]) <= position }
    }

    private func firstArrival(
        _ arrivals: ScratchSlice<Entry>, _ count: Int, notBefore key: UInt64
    ) -> Int {
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
    let partitions: ScratchSlice<UInt32>?

    @inline(__always) func key(_ entry: LevelEntry<Scalar>) -> UInt64 {
        let row = UInt64(UInt32(Double(entry.y) * scale)) &>> doublings
        guard let partitions else { return row }
        return UInt64(partitions[Int(entry.node)]) &<< 32 | row
    }
}
