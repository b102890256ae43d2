// SPDX-License-Identifier: MIT
import CPrefetch

/// All nodes of one level, with what the greedy pass that makes the next level has made of each: what an update needs
/// to know of a node's neighbours lies together.
///
/// A uniform grid of cells as large as the pass's radius, by hash of the cell. Cells are lines of the processor's cache
/// and so are nodes, because a search waits for memory more than it computes. It cannot be copied: a copy would take
/// longer than most updates.
///
/// Invariant: each node in use is in the chain of its cell's bucket once; the next bucket of a chain is below
/// `bucketCount`.
struct LevelNodes<Scalar: Coordinate>: ~Copyable {
    struct Entry: BitwiseCopyable {
        /// The position as a claimant: for a cluster the exact centre.
        let x: Double
        let y: Double
        let order: OrderLabel
        /// The order of the node that claimed it: no two nodes of a level have the same. Or `unclaimed` or `arrived`.
        fileprivate(set) var claim: OrderLabel
        /// The sum of its points' weights; their number if points are not weighted.
        let weight: Double
        let key: NodeKey
        /// The cluster that the pass put it in; `NodeNumber.none` if it passed to the next level unchanged.
        fileprivate(set) var cluster: UInt32
        /// The number of its points.
        let count: UInt32
        /// The partition that its points belong to; 0 if points are not partitioned.
        let partition: UInt32
        /// The levels at which the base's own entry shows it, as a bit each; at others the delta has it.
        let levelsInBase: UInt32
        /// What a running pass notes of it.
        fileprivate(set) var notes: LevelNodeNotes = []

        /// - Parameters:
        ///   - x, y: the exact position.
        ///   - claim: `unclaimed` or `arrived` or a claimant's order.
        init(
            _ key: NodeKey, x: Double, y: Double, order: OrderLabel, claim: OrderLabel, weight: Double,
            cluster: UInt32 = NodeNumber.none, count: UInt32, partition: UInt32, levelsInBase: UInt32
        ) {
            (self.key, self.x, self.y, self.order) = (key, x, y, order)
            (self.claim, self.weight, self.cluster, self.count) = (claim, weight, cluster, count)
            (self.partition, self.levelsInBase) = (partition, levelsInBase)
        }

        /// The position as compared with a claimant's: rounded if the index's precision is `float`.
        @inline(__always) var compared: (x: Double, y: Double) { (Double(Scalar(x)), Double(Scalar(y))) }

        /// The node at a level where no pass has put it in a cluster.
        ///
        /// - Parameter claim: `unclaimed` or `arrived`.
        func outsideClusters(claim: OrderLabel) -> Self {
            var entry = self
            (entry.claim, entry.cluster, entry.notes) = (claim, NodeNumber.none, [])
            return entry
        }

        var shown: ShownNode {
            let (x, y) = compared
            return ShownNode(key: key, x: x, y: y, levelsInBase: levelsInBase)
        }
    }

    typealias Place = (x: Double, y: Double)

    private let entries: Scratch<Entry>
    /// How many entries are or were in use.
    private var count = 0
    /// Of entries that are no longer in use.
    private var free: [Int32] = []
    /// The indexes of nodes that arrived since the last pass, in the order of arrival.
    private(set) var arrived: [Int] = []
    /// The nodes that left the level since the last pass, as they were.
    private(set) var removed: [Entry] = []
    /// 64 bytes each: the positions of some nodes as compared, first along the x axis, then along the y axis, their
    /// indexes, and the next bucket of the chain, -1 if there is none. Where there is no node, the position is not a
    /// number. The first `mask + 1` buckets are found by hash, the others are chained.
    private let buckets: Scratch<UInt64>
    private var bucketCount: Int
    private let mask: Int
    private let cellsAcross: Double
    private let radius: LevelRadius<Scalar>

    /// - Parameters:
    ///   - radius: that of the pass.
    ///   - capacity: about the number of nodes.
    init(_ radius: LevelRadius<Scalar>, capacity: Int) {
        self.radius = radius
        cellsAcross = 1 / max(Double(radius.reach), 0x1p-28)
        var size = 64
        while size * 5 < capacity * 2 { size *= 2 }
        mask = size - 1
        bucketCount = 0
        buckets = Scratch(capacity: (size + size / 8) * 8)
        entries = Scratch(capacity: capacity + capacity / 8)
        while bucketCount < size { addBucket() }
    }

    /// The most bytes for each node: an entry, and its part of the buckets, of which between two fifths and four fifths of a
    /// node's are made.
    static var bytesOfNode: Int { MemoryLayout<Entry>.stride * 9 / 8 + 64 * 4 / 5 * 9 / 8 + 1 }

    var memoryBytes: Int { entries.capacity * MemoryLayout<Entry>.stride + buckets.capacity * 8 }

    @inline(__always) subscript(index: Int) -> Entry { entries.base[index] }

    /// The indexes of all nodes.
    var indices: [Int] {
        let unused = Set(free)
        return (0..<count).filter { !unused.contains(Int32(truncatingIfNeeded: $0)) }
    }

    /// How many nodes a bucket has room for.
    @inline(__always) private static var room: Int { 60 / (2 * MemoryLayout<Scalar>.size + 4) }

    @inline(__always) private func memory(_ bucket: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(buckets.base + bucket &* 8)
    }

    @inline(__always) private func xs(_ bucket: Int) -> UnsafeMutablePointer<Scalar> {
        memory(bucket).assumingMemoryBound(to: Scalar.self)
    }

    @inline(__always) private func ys(_ bucket: Int) -> UnsafeMutablePointer<Scalar> { xs(bucket) + Self.room }

    /// The indexes of a bucket's nodes, and after the last the next bucket.
    @inline(__always) private func indexes(_ bucket: Int) -> UnsafeMutablePointer<Int32> {
        UnsafeMutableRawPointer(xs(bucket) + 2 * Self.room).assumingMemoryBound(to: Int32.self)
    }

    @inline(__always) private func next(_ bucket: Int) -> Int { Int(indexes(bucket)[Self.room]) }

    private mutating func addBucket() {
        buckets.grow(to: (bucketCount + 1) * 8)
        for number in 0..<2 * Self.room { xs(bucketCount)[number] = .nan }
        for number in 0...Self.room { indexes(bucketCount)[number] = -1 }
        bucketCount += 1
    }

    /// Adds a node. If it arrived, its claim is `arrived`.
    mutating func insert(_ entry: Entry) {
        let index: Int
        if let last = free.popLast() {
            index = Int(last)
        } else {
            index = count
            count += 1
            entries.grow(to: count)
        }
        entries.base[index] = entry
        if entry.claim == .arrived { arrived.append(index) }
        let (x, y) = entry.compared
        var bucket = bucket(cell(x), cell(y))
        while true {
            for number in 0..<Self.room where indexes(bucket)[number] < 0 {
                (xs(bucket)[number], ys(bucket)[number]) = (Scalar(x), Scalar(y))
                indexes(bucket)[number] = Int32(truncatingIfNeeded: index)
                return
            }
            if next(bucket) < 0 {
                addBucket()
                indexes(bucket)[Self.room] = Int32(truncatingIfNeeded: bucketCount - 1)
            }
            bucket = next(bucket)
        }
    }

    private mutating func remove(_ node: ShownNode, isNoted: Bool) {
        guard let (bucket, number) = place(of: node) else { return }
        let index = Int(indexes(bucket)[number])
        if isNoted { removed.append(entries.base[index]) }
        (xs(bucket)[number], ys(bucket)[number], indexes(bucket)[number]) = (.nan, .nan, -1)
        free.append(Int32(truncatingIfNeeded: index))
    }

    /// The bucket that has a node, and its number there; nil if the node is not at the level.
    @inline(__always) private func place(of node: ShownNode) -> (bucket: Int, number: Int)? {
        var bucket = bucket(cell(node.x), cell(node.y))
        while bucket >= 0 {
            for number in 0..<Self.room {
                // A moved point may be there with both positions.
                if Double(xs(bucket)[number]) == node.x, Double(ys(bucket)[number]) == node.y,
                    entries.base[Int(indexes(bucket)[number])].key == node.key
                {
                    return (bucket, number)
                }
            }
            bucket = next(bucket)
        }
        return nil
    }

    /// Fetches the memory that `place` reads last, once what it reads first was fetched.
    @inline(__always) private func fetchEntry(_ node: ShownNode) {
        let bucket = bucket(cell(node.x), cell(node.y))
        for number in 0..<Self.room where Double(xs(bucket)[number]) == node.x {
            fetch(at: Int(indexes(bucket)[number]))
        }
    }

    /// Calls `body` with each node while memory for the next ones is fetched.
    private mutating func forEach(_ nodes: [ShownNode], _ body: (inout Self, Int) -> Void) {
        for number in nodes.indices {
            let (next, later) = (number + Self.fetchDistance, number + 2 * Self.fetchDistance)
            if later < nodes.count { fetchCell((nodes[later].x, nodes[later].y)) }
            if next < nodes.count { fetchEntry(nodes[next]) }
            body(&self, number)
        }
    }

    /// Says in which clusters the pass has put nodes.
    ///
    /// - Parameter clusters: for each node its cluster and the order of the one from which that grew; or `NodeNumber.none`
    ///   and any order.
    mutating func set(_ clusters: [(cluster: UInt32, order: OrderLabel)], of nodes: [ShownNode]) {
        forEach(nodes) { levelNodes, number in
            guard let (bucket, place) = levelNodes.place(of: nodes[number]) else { return }
            let index = Int(levelNodes.indexes(bucket)[place])
            let (cluster, order) = clusters[number]
            let isClaimed = cluster != NodeNumber.none && order != levelNodes[index].order
            levelNodes.setClaim(isClaimed ? order : .unclaimed, at: index)
            levelNodes.setCluster(cluster, at: index)
        }
    }

    /// Adds nodes.
    mutating func insert(_ entries: [Entry]) {
        for (number, entry) in entries.enumerated() {
            let next = number + Self.fetchDistance
            if next < entries.count { fetchCell(entries[next].compared) }
            insert(entry)
        }
    }

    /// Removes nodes.
    ///
    /// - Parameter areNoted: whether `removed` gets them.
    mutating func remove(_ nodes: [ShownNode], areNoted: Bool) {
        forEach(nodes) { $0.remove(nodes[$1], isNoted: areNoted) }
    }

    /// How many nodes ahead memory is fetched, so that the waits for it overlap.
    private static var fetchDistance: Int { 8 }

    /// Finds the nodes within the pass's radius of a position, as compared, and perhaps some a little further away.
    ///
    /// - Parameter found: their indexes, in no particular order; emptied first.
    @inline(__always) func find(around x: Double, _ y: Double, into found: inout [Int]) {
        found.removeAll(keepingCapacity: true)
        let (centerX, centerY, squared) = (Scalar(x), Scalar(y), radius.reachSquared)
        let reach = Double(radius.reach)
        let (west, east) = (cell(x - reach), cell(x + reach))
        for row in cell(y - reach)...cell(y + reach) {
            for column in west...east {
                var bucket = bucket(column, row)
                while bucket >= 0 {
                    // A processor could not predict which nodes are near.
                    var near: UInt32 = 0
                    for number in 0..<Self.room {
                        let (dx, dy) = (xs(bucket)[number] - centerX, ys(bucket)[number] - centerY)
                        near |= (dx * dx + dy * dy <= squared ? 1 : 0) &<< UInt32(truncatingIfNeeded: number)
                    }
                    while near != 0 {
                        let number = near.trailingZeroBitCount
                        near &= near &- 1
                        // Different cells may share a bucket.
                        if cell(Double(xs(bucket)[number])) == column, cell(Double(ys(bucket)[number])) == row {
                            found.append(Int(indexes(bucket)[number]))
                        }
                    }
                    bucket = next(bucket)
                }
            }
        }
    }

    /// Fetches the memory that `find` reads first.
    @inline(__always) func fetch(_ place: Place) {
        let (column, row) = (cell(place.x), cell(place.y))
        for row in row - 1...row + 1 {
            for column in column - 1...column + 1 { fetch(column, row) }
        }
    }

    /// Fetches the memory that `insert` and `remove` read first.
    @inline(__always) private func fetchCell(_ place: Place) { fetch(cell(place.x), cell(place.y)) }

    /// Fetches the first nodes of a cell.
    @inline(__always) func fetch(_ column: Int, _ row: Int) { clusterd_prefetch(memory(bucket(column, row))) }

    @inline(__always) func fetch(at index: Int) { clusterd_prefetch(entries.base + index) }

    mutating func note(_ notes: LevelNodeNotes, at index: Int) { entries.base[index].notes.insert(notes) }
    mutating func forget(at index: Int) { entries.base[index].notes = [] }
    mutating func setClaim(_ claim: OrderLabel, at index: Int) { entries.base[index].claim = claim }
    mutating func setCluster(_ cluster: UInt32, at index: Int) { entries.base[index].cluster = cluster }

    /// Whether nodes arrived or left since the last pass.
    var isChanged: Bool { !arrived.isEmpty || !removed.isEmpty }

    mutating func forgetChanges() {
        arrived.removeAll(keepingCapacity: true)
        removed.removeAll(keepingCapacity: true)
    }

    /// The column or row of a position; positions beyond the world count as at its edge.
    @inline(__always) func cell(_ position: Double) -> Int { Int(max(0, min(1, position)) * cellsAcross) }

    /// Cells beside each other in a row have buckets beside each other.
    @inline(__always) private func bucket(_ column: Int, _ row: Int) -> Int {
        (column &+ row &* 0x9e37_79b1) & mask
    }
}

extension OrderLabel {
    /// In place of a claimant's order: after the orders of all nodes.
    static let unclaimed = OrderLabel(rawValue: .max)
    /// Likewise, of a node that no pass has visited.
    static let arrived = OrderLabel(rawValue: .max - 1)
}

/// What a running pass notes of a node.
struct LevelNodeNotes: OptionSet, BitwiseCopyable {
    let rawValue: UInt32
    /// It waits to be visited or was visited.
    static let queued = Self(rawValue: 1)
    /// What it claims may have changed.
    static let touched = Self(rawValue: 2)
    /// It passed to the next level unchanged before.
    static let passed = Self(rawValue: 4)
}
