// SPDX-License-Identifier: MIT
import CPrefetch

/// All nodes of one level, with what the greedy pass that makes the next level has made of each: what an update needs
/// to know of a node's neighbours lies together.
///
/// A uniform grid of cells as large as the pass's radius, by hash of the cell.
struct LevelNodes<Scalar: Coordinate> {
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

    /// A position as compared, in the list of its bucket.
    private struct Spot: BitwiseCopyable {
        var x: Scalar
        var y: Scalar
        /// The index of the next one of the bucket, or of the next one that is not in use; -1 if there is none.
        var next: Int32
    }

    typealias Place = (x: Double, y: Double)

    private(set) var entries: [Entry] = []
    /// By index, apart from what is read only of nodes that are near.
    private var spots: [Spot] = []
    /// The indexes of nodes that arrived since the last pass, in the order of arrival.
    private(set) var arrived: [Int] = []
    /// The index of the first spot of each bucket; -1 if there is none.
    private var heads: [Int32]
    /// The first of the spots that are not in use.
    private var free: Int32 = -1
    private let cellsAcross: Double
    private let radius: LevelRadius<Scalar>

    /// - Parameters:
    ///   - radius: that of the pass.
    ///   - capacity: about the number of nodes.
    init(_ radius: LevelRadius<Scalar>, capacity: Int) {
        self.radius = radius
        cellsAcross = 1 / max(Double(radius.reach), 0x1p-28)
        var buckets = 64
        while buckets < capacity { buckets *= 2 }
        heads = [Int32](repeating: -1, count: buckets)
        entries.reserveCapacity(capacity + capacity / 8)
        spots.reserveCapacity(capacity + capacity / 8)
    }

    var memoryBytes: Int {
        entries.capacity * (MemoryLayout<Entry>.stride + MemoryLayout<Spot>.stride) + heads.count * 4
    }

    /// Adds a node. If it arrived, its claim is `arrived`.
    mutating func insert(_ entry: Entry) {
        let (x, y) = entry.compared
        let bucket = bucket(cell(x), cell(y))
        let spot = Spot(x: Scalar(x), y: Scalar(y), next: heads[bucket])
        let index = free < 0 ? entries.count : Int(free)
        if free < 0 {
            entries.append(entry)
            spots.append(spot)
        } else {
            free = spots[index].next
            entries[index] = entry
            spots[index] = spot
        }
        heads[bucket] = Int32(truncatingIfNeeded: index)
        if entry.claim == .arrived { arrived.append(index) }
    }

    /// Removes a node at a position as compared.
    mutating func remove(_ key: NodeKey, x: Double, y: Double) {
        let bucket = bucket(cell(x), cell(y))
        var (previous, index) = (-1, Int(heads[bucket]))
        // A moved point may be there with both positions.
        while index >= 0, Double(spots[index].x) != x || Double(spots[index].y) != y || entries[index].key != key {
            (previous, index) = (index, Int(spots[index].next))
        }
        guard index >= 0 else { return }
        if previous < 0 { heads[bucket] = spots[index].next } else { spots[previous].next = spots[index].next }
        spots[index].next = free
        free = Int32(truncatingIfNeeded: index)
    }

    /// Finds the nodes within the pass's radius of a position, as compared, and perhaps some a little further away.
    ///
    /// - Parameter found: their indexes, in no particular order; emptied first.
    @inline(__always) func find(around x: Double, _ y: Double, into found: inout [Int]) {
        found.removeAll(keepingCapacity: true)
        let (reach, squared) = (Double(radius.reach), Double(radius.reachSquared))
        let (west, east) = (cell(x - reach), cell(x + reach))
        for row in cell(y - reach)...cell(y + reach) {
            for column in west...east {
                var index = Int(heads[bucket(column, row)])
                while index >= 0 {
                    let spot = spots[index]
                    let (otherX, otherY) = (Double(spot.x), Double(spot.y))
                    let (dx, dy) = (otherX - x, otherY - y)
                    // Different cells may share a bucket.
                    if dx * dx + dy * dy <= squared, cell(otherX) == column, cell(otherY) == row {
                        found.append(index)
                    }
                    index = Int(spot.next)
                }
            }
        }
    }

    /// Fetches memory for two of the places that come soon after one: a search waits for memory more than it computes.
    @inline(__always) func fetch(_ places: [Place], after index: Int) {
        if index + 2 * Self.fetchDistance < places.count {
            let (column, row) = cells(places[index + 2 * Self.fetchDistance])
            heads.withUnsafeBufferPointer { heads in
                guard let base = heads.baseAddress else { return }
                for row in row - 1...row + 1 { clusterd_prefetch(base + bucket(column, row)) }
            }
        }
        if index + Self.fetchDistance < places.count {
            let (column, row) = cells(places[index + Self.fetchDistance])
            spots.withUnsafeBufferPointer { spots in
                guard let base = spots.baseAddress else { return }
                for row in row - 1...row + 1 {
                    for column in column - 1...column + 1 {
                        let head = heads[bucket(column, row)]
                        if head >= 0 { clusterd_prefetch(base + Int(head)) }
                    }
                }
            }
        }
    }

    /// How many places ahead memory is fetched.
    private static var fetchDistance: Int { 6 }

    private func cells(_ place: Place) -> (column: Int, row: Int) { (cell(place.x), cell(place.y)) }

    mutating func note(_ notes: LevelNodeNotes, at index: Int) { entries[index].notes.insert(notes) }
    mutating func forget(at index: Int) { entries[index].notes = [] }
    mutating func setClaim(_ claim: OrderLabel, at index: Int) { entries[index].claim = claim }
    mutating func setCluster(_ cluster: UInt32, at index: Int) { entries[index].cluster = cluster }
    mutating func forgetArrived() { arrived.removeAll(keepingCapacity: true) }

    /// The column or row of a position; positions beyond the world count as at its edge.
    @inline(__always) private func cell(_ position: Double) -> Int { Int(max(0, min(1, position)) * cellsAcross) }

    /// Cells beside each other in a row have buckets beside each other.
    @inline(__always) private func bucket(_ column: Int, _ row: Int) -> Int {
        (column &+ row &* 0x9e37_79b1) & (heads.count &- 1)
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
    /// The nodes of a level of an index.
    ///
    /// - Parameter capacity: about their number.
    init(_ level: LevelReader<Scalar>, _ number: Int, capacity: Int) {
        let (layers, spatial) = (level.layers, level.spatial)
        let zoom = number - 1
        self.init(LevelRadius(layers.options.unitRadius(at: zoom)), capacity: capacity)
        func entry(_ key: NodeKey, _ x: Double, _ y: Double) -> Entry {
            let order = layers.order(of: key)
            let parent = layers.parent(of: key)
            let isMade = parent != NodeNumber.none && layers.zoom(ofCluster: Int(parent)) == zoom
            let claimant = isMade ? layers.order(of: NodeKey(ClusterOrdinal(rawValue: parent))) : order
            let center = key.isCluster ? layers.center(ofCluster: key.number) : (x: x, y: y)
            return Entry(
                key, x: center.x, y: center.y, order: order, claim: claimant == order ? .unclaimed : claimant,
                cluster: isMade ? parent : NodeNumber.none, count: layers.pointCount(of: key))
        }
        _ = spatial.visit(UnitBox(around: 0.5, 0.5, reach: 2), zoom: number) { slot in
            let key = layers.key(ofBase: slot.node)
            if !layers.delta.hides(key, at: number) { insert(entry(key, Double(slot.x), Double(slot.y))) }
            return true
        }
        let added = layers.delta.levels[number - layers.options.minimumZoom].entries
        for node in added.values { insert(entry(node.key, node.x, node.y)) }
    }
}
