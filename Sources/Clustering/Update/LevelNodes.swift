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
        let key: NodeKey
        /// The cluster that the pass put it in; `NodeNumber.none` if it passed to the next level unchanged.
        fileprivate(set) var cluster: UInt32
        /// The number of its points.
        let count: UInt32
        /// What a running pass notes of it.
        fileprivate(set) var notes: LevelNodeNotes = []
        /// Fills the line.
        private let unused: (UInt64, UInt64) = (0, 0)

        /// - Parameters:
        ///   - node: the position is exact, the claim `unclaimed` or `arrived` or a claimant's order.
        init(
            _ key: NodeKey, x: Double, y: Double, order: OrderLabel, claim: OrderLabel, cluster: UInt32, count: UInt32
        ) {
            (self.key, self.x, self.y, self.order) = (key, x, y, order)
            (self.claim, self.cluster, self.count) = (claim, cluster, count)
        }

        /// The position as compared with a claimant's: rounded if the index's precision is `float`.
        @inline(__always) var compared: (x: Double, y: Double) { (Double(Scalar(x)), Double(Scalar(y))) }
    }

    /// A node that left the level since the last pass, as it was.
    struct Removed: BitwiseCopyable {
        let order: OrderLabel
        let claim: OrderLabel
        /// The position as compared.
        let place: Place
        let isInCluster: Bool
    }

    typealias Place = (x: Double, y: Double)

    private let entries: Scratch<Entry>
    /// How many entries are or were in use.
    private var count = 0
    /// Of entries that are no longer in use.
    private var free: [Int32] = []
    /// The indexes of nodes that arrived since the last pass, in the order of arrival.
    private(set) var arrived: [Int] = []
    private(set) var removed: [Removed] = []
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

    /// Removes a node at a position as compared.
    ///
    /// - Parameter isNoted: whether `removed` gets it.
    mutating func remove(_ key: NodeKey, x: Double, y: Double, isNoted: Bool) {
        var bucket = bucket(cell(x), cell(y))
        while bucket >= 0 {
            for number in 0..<Self.room {
                let index = Int(indexes(bucket)[number])
                // A moved point may be there with both positions.
                guard index >= 0, Double(xs(bucket)[number]) == x, Double(ys(bucket)[number]) == y,
                    entries.base[index].key == key
                else { continue }
                let entry = entries.base[index]
                if isNoted {
                    removed.append(
                        Removed(
                            order: entry.order, claim: entry.claim, place: (x, y),
                            isInCluster: entry.cluster != NodeNumber.none))
                }
                (xs(bucket)[number], ys(bucket)[number], indexes(bucket)[number]) = (.nan, .nan, -1)
                free.append(Int32(truncatingIfNeeded: index))
                return
            }
            bucket = next(bucket)
        }
    }

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
    @inline(__always) func fetchCell(_ place: Place) { fetch(cell(place.x), cell(place.y)) }

    /// Fetches the first nodes of a cell.
    @inline(__always) private func fetch(_ column: Int, _ row: Int) { clusterd_prefetch(memory(bucket(column, row))) }

    @inline(__always) func fetch(at index: Int) { clusterd_prefetch(entries.base + index) }

    mutating func note(_ notes: LevelNodeNotes, at index: Int) { entries.base[index].notes.insert(notes) }
    mutating func forget(at index: Int) { entries.base[index].notes = [] }
    mutating func setClaim(_ claim: OrderLabel, at index: Int) { entries.base[index].claim = claim }
    mutating func setCluster(_ cluster: UInt32, at index: Int) { entries.base[index].cluster = cluster }
    mutating func forgetChanges() {
        arrived.removeAll(keepingCapacity: true)
        removed.removeAll(keepingCapacity: true)
    }

    /// The column or row of a position; positions beyond the world count as at its edge.
    @inline(__always) private func cell(_ position: Double) -> Int { Int(max(0, min(1, position)) * cellsAcross) }

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

extension LevelNodes {
    /// What an index has of a node.
    private struct Known {
        let key: NodeKey
        let x: Double
        let y: Double
        /// Whether it is the base's: the delta may hide it.
        let isOfBase: Bool
        var order = OrderLabel.unclaimed
        var parent = NodeNumber.none
        var isHidden = false
        var isMade = false
    }

    /// How many nodes are looked up together.
    private static var batchCount: Int { 256 }

    /// The nodes of a level of an index.
    ///
    /// - Parameter capacity: about their number.
    init(_ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>, _ number: Int, capacity: Int) {
        self.init(LevelRadius(layers.options.unitRadius(at: number - 1)), capacity: capacity)
        var batch: [Known] = []
        _ = spatial.visit(UnitBox(around: 0.5, 0.5, reach: 2), zoom: number) { slot in
            batch.append(
                Known(key: layers.key(ofBase: slot.node), x: Double(slot.x), y: Double(slot.y), isOfBase: true))
            if batch.count == Self.batchCount { insert(&batch, layers, number) }
            return true
        }
        let added = layers.delta.levels[number - layers.options.minimumZoom].entries
        for node in added.values {
            batch.append(Known(key: node.key, x: node.x, y: node.y, isOfBase: false))
            if batch.count == Self.batchCount { insert(&batch, layers, number) }
        }
        insert(&batch, layers, number)
    }

    /// Adds nodes of a level and empties `batch`. Each loop reads what lies apart for each node, so that the waits for
    /// memory overlap.
    private mutating func insert(_ batch: inout [Known], _ layers: LayeredIndex, _ level: Int) {
        for known in batch {
            fetch(cell(known.x), cell(known.y))
            layers.delta.parents.fetch(known.key.rawValue)
            if known.isOfBase { layers.delta.tombstones.fetch(known.key.rawValue) }
        }
        for index in batch.indices where batch[index].isOfBase {
            batch[index].isHidden = layers.delta.hides(batch[index].key, at: level)
        }
        for index in batch.indices { batch[index].order = layers.order(of: batch[index].key) }
        for index in batch.indices { batch[index].parent = layers.parent(of: batch[index].key) }
        for index in batch.indices where batch[index].parent != NodeNumber.none {
            batch[index].isMade = layers.zoom(ofCluster: Int(batch[index].parent)) == level - 1
        }
        for known in batch where !known.isHidden {
            insert(
                Entry(
                    known.key, at: (known.x, known.y), order: known.order,
                    cluster: known.isMade ? known.parent : NodeNumber.none, in: layers))
        }
        batch.removeAll(keepingCapacity: true)
    }
}

extension LevelNodes.Entry {
    /// A node as the pass of its level left it.
    ///
    /// - Parameters:
    ///   - place: its position as compared.
    ///   - cluster: the cluster that the pass put it in, or `NodeNumber.none`.
    fileprivate init(
        _ key: NodeKey, at place: LevelNodes.Place, order: OrderLabel, cluster: UInt32, in layers: LayeredIndex
    ) {
        let claimant =
            cluster == NodeNumber.none ? order : layers.order(of: NodeKey(ClusterOrdinal(rawValue: cluster)))
        let center = key.isCluster ? layers.center(ofCluster: key.number) : place
        self.init(
            key, x: center.x, y: center.y, order: order, claim: claimant == order ? .unclaimed : claimant,
            cluster: cluster, count: layers.pointCount(of: key))
    }

    /// A node of an index's level.
    init(_ key: NodeKey, at place: LevelNodes.Place, level: Int, in layers: LayeredIndex) {
        let parent = layers.parent(of: key)
        let isMade = parent != NodeNumber.none && layers.zoom(ofCluster: Int(parent)) == level - 1
        self.init(
            key, at: place, order: layers.order(of: key), cluster: isMade ? parent : NodeNumber.none, in: layers)
    }
}
