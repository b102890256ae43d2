// SPDX-License-Identifier: MIT

/// The nodes that the delta adds to one level, in a uniform grid, so that neighbours are found without visiting all.
///
/// Copies share memory that neither has written. Cells are as large as the radius with which the level is searched.
struct NodeGrid: Sendable {
    struct Entry: BitwiseCopyable, Sendable {
        /// The position as compared: rounded if the index's precision is `float`.
        var x: Double
        var y: Double
        var key: NodeKey
        fileprivate var next: Int32
    }

    private(set) var entries = PagedArray<Entry>()
    /// The index of the first entry of each bucket, by hash of the cell; -1 if there is none.
    private var heads = PagedArray<Int32>()
    private let cellsAcross: Double

    /// - Parameter cell: the side of a cell in the unit square.
    init(cell: Double) {
        cellsAcross = 1 / max(cell, 0x1p-28)
    }

    var memoryBytes: Int { entries.memoryBytes + heads.memoryBytes }

    mutating func insert(_ key: NodeKey, x: Double, y: Double) {
        if entries.count >= heads.count { rehash(max(16, heads.count * 2)) }
        let bucket = bucket(column(x), column(y))
        entries.append(Entry(x: x, y: y, key: key, next: heads[bucket]))
        heads[bucket] = Int32(truncatingIfNeeded: entries.count - 1)
    }

    /// Removes a node at a position; returns false if it is not there.
    mutating func remove(_ key: NodeKey, x: Double, y: Double) -> Bool {
        guard !entries.isEmpty else { return false }
        let bucket = bucket(column(x), column(y))
        guard let index = unlink(bucket, where: { $1.key == key && $1.x == x && $1.y == y }) else { return false }
        // The last entry fills the gap.
        let last = entries.count - 1
        if Int(index) != last {
            var moved = entries[last]
            let movedBucket = self.bucket(column(moved.x), column(moved.y))
            _ = unlink(movedBucket, where: { index, _ in Int(index) == last })
            moved.next = heads[movedBucket]
            entries[Int(index)] = moved
            heads[movedBucket] = index
        }
        entries.removeLast()
        return true
    }

    /// Fetches the memory that is read first for a position.
    @inline(__always) func fetch(x: Double, y: Double) {
        if heads.count > 0 { heads.fetch(bucket(column(x), column(y))) }
    }

    /// Calls `body` with the entries inside a box, in no particular order.
    @inline(__always) func visit(_ box: UnitBox, _ body: (Entry) -> Void) {
        guard !entries.isEmpty, box.minimumX <= box.maximumX, box.minimumY <= box.maximumY else { return }
        let (west, east) = (column(box.minimumX), column(box.maximumX))
        let (north, south) = (column(box.minimumY), column(box.maximumY))
        // Both ends are columns within the world, so nothing overflows.
        let cells = (east - west + 1) * (south - north + 1)
        // Examining a cell costs about as much as examining two entries.
        if cells > 64, cells * 2 > entries.count {
            for index in entries.indices {
                let entry = entries[index]
                if box.contains(entry.x, entry.y) { body(entry) }
            }
            return
        }
        for row in north...south {
            for column in west...east {
                var index = heads[bucket(column, row)]
                while index >= 0 {
                    let entry = entries[Int(index)]
                    // Different cells may share a bucket: each entry is visited for its own cell only.
                    if box.contains(entry.x, entry.y), self.column(entry.x) == column, self.column(entry.y) == row {
                        body(entry)
                    }
                    index = entry.next
                }
            }
        }
    }

    /// Calls `body` with the entries of the cells that a box meets, and with some others, until it returns false. The
    /// box spans few cells.
    ///
    /// - Returns: false if `body` returned false.
    @inline(__always) func visitCells(_ box: UnitBox, _ body: (Entry) -> Bool) -> Bool {
        guard !entries.isEmpty else { return true }
        for row in column(box.minimumY)...column(box.maximumY) {
            for column in column(box.minimumX)...column(box.maximumX) {
                var index = heads[bucket(column, row)]
                while index >= 0 {
                    let entry = entries[Int(index)]
                    guard body(entry) else { return false }
                    index = entry.next
                }
            }
        }
        return true
    }

    private mutating func unlink(_ bucket: Int, where isWanted: (Int32, Entry) -> Bool) -> Int32? {
        var previous: Int32 = -1
        var index = heads[bucket]
        while index >= 0 {
            let next = entries[Int(index)].next
            if isWanted(index, entries[Int(index)]) {
                if previous < 0 { heads[bucket] = next } else { entries[Int(previous)].next = next }
                return index
            }
            previous = index
            index = next
        }
        return nil
    }

    private mutating func rehash(_ size: Int) {
        heads = PagedArray(repeating: -1, count: size)
        for index in entries.indices {
            let bucket = bucket(column(entries[index].x), column(entries[index].y))
            entries[index].next = heads[bucket]
            heads[bucket] = Int32(truncatingIfNeeded: index)
        }
    }

    /// The column or row of a position; positions beyond the world count as at its edge.
    @inline(__always) private func column(_ position: Double) -> Int {
        Int(max(0, min(1, position)) * cellsAcross)
    }

    @inline(__always) private func bucket(_ column: Int, _ row: Int) -> Int {
        let mixed = (UInt64(column) &* 0x9e37_79b9_7f4a_7c15) ^ (UInt64(row) &* 0xc2b2_ae3d_27d4_eb4f)
        return Int((mixed ^ mixed >> 29) & UInt64(heads.count - 1))
    }
}
