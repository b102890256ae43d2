// SPDX-License-Identifier: MIT
import SystemSupport

/// Computes what departures and arrivals at a level change in the greedy pass that makes the next level.
///
/// A node's claim depends only on its earlier neighbours: the first unclaimed one that reaches it claims it (see
/// `ClaimState`). So a node is visited only if it arrived, if its claimant departed or is now claimed itself, or
/// if an earlier neighbour became a claimant. Nodes are visited in order, so each is visited once.
struct GreedyPassUpdate<Scalar: Coordinate> {
    typealias Claim = LevelClaim
    /// What arrives at the next level are the nodes that pass to it. The clusters to be made get their keys later.
    typealias Outcome = LevelOutcome<Departure, NodeKey>

    /// A node that was visited.
    struct Visit {
        let key: NodeKey
        /// Nil for a node that arrived.
        let old: Claim?
        let new: Claim
        /// The cluster of this zoom that contained the node; nil if it passed to the next level unchanged, or arrived.
        let cluster: UInt32?
    }

    let zoom: Int
    let departed: [Departure]
    let arrived: [NodeKey]
    let search: NeighbourSearch<Scalar>
    private var prefetched = NeighbourPrefetch<Scalar>()
    let positionsOfThreads: [PointPositionCache<Scalar>]
    let parallel: Parallel
    var layers: LayeredIndex { search.level.layers }
    private(set) var visits: [Visit] = []
    /// The index in `visits`, by key.
    private var visitIndexes: NumberMap
    private var queue = OrderHeap()
    /// Keys of nodes that are queued or were visited.
    private var known: NumberMap
    /// Clusters whose claimant departed while a node with the same origin arrived, by that origin.
    private var orphanedClusters: [UInt32: Int] = [:]
    /// Unclaimed nodes that were formerly claimed or did not exist.
    private var newClaimants: NodeGrid

    /// The number of nodes that may still be visited.
    private(set) var budget: Int
    /// Working memory, retained between visits.
    private var claimants: [NeighbourSearch<Scalar>.Claimant] = []
    private var laterNeighbours: [NeighbourSearch<Scalar>.LaterNeighbour] = []
    private var neighbours: [NeighbourSearch<Scalar>.Neighbour] = []

    /// - Parameter positions: a cache of point positions for each thread.
    init(
        _ level: LevelReader<Scalar>, zoom: Int, departed: [Departure], arrived: [NodeKey], budget: Int,
        positions: [PointPositionCache<Scalar>], parallel: Parallel
    ) {
        self.budget = budget
        self.parallel = parallel
        self.zoom = zoom
        self.departed = departed
        self.arrived = arrived
        search = NeighbourSearch(level, zoom: zoom, departed: departed, arrived: arrived)
        positionsOfThreads = positions
        visitIndexes = NumberMap(capacity: 2 * arrived.count)
        known = NumberMap(capacity: 2 * arrived.count)
        newClaimants = NodeGrid(cell: Double(search.radius.reach))
    }

    /// The visit of a node; nil if it was not visited.
    @inline(__always) func visit(of key: NodeKey) -> Visit? {
        visitIndexes[key.rawValue].map { visits[Int($0)] }
    }

    private mutating func add(_ visit: Visit) {
        visitIndexes.set(visit.key.rawValue, UInt32(truncatingIfNeeded: visits.count))
        visits.append(visit)
    }

    /// Whether a formerly unclaimed node still is unclaimed.
    @inline(__always) private func isStillUnclaimed(_ key: NodeKey) -> Bool {
        visit(of: key).map { $0.new == .unclaimed } ?? true
    }

    /// Finds the new claims; returns false if that costs more than the budget.
    mutating func run() -> Bool {
        let successors = Set(arrived.map { layers.origin(of: $0) })
        for departure in departed where isMade(departure.parent) {
            let cluster = Int(departure.parent)
            guard layers.child(0, ofCluster: cluster) == departure.key else { continue }
            let origin = layers.origin(of: departure.key)
            // The departed node's members are visited once its successor's state is known.
            if successors.contains(origin) {
                orphanedClusters[origin] = cluster
            } else {
                enqueueMembers(of: cluster)
            }
        }
        for key in arrived { enqueue(key) }
        prefetch()
        while let number = queue.pop() {
            guard spend(1), visit(NodeKey(rawValue: number)) else { return false }
        }
        return true
    }

    /// Prefetches the neighbours of all queued nodes.
    private mutating func prefetch() {
        var keys: [NodeKey] = []
        known.forEach { key, _ in keys.append(NodeKey(rawValue: key)) }
        prefetched = NeighbourPrefetch(keys, search, positionsOfThreads, parallel)
    }

    /// Charges visits to the budget; returns false once it is spent.
    private mutating func spend(_ nodes: Int) -> Bool {
        budget -= nodes
        return budget > 0
    }

    /// Whether a parent is a cluster of this zoom.
    @inline(__always) func isMade(_ parent: UInt32) -> Bool { search.isMade(parent) }

    /// Whether a node was at the level before and still is.
    @inline(__always) func isOld(_ key: NodeKey) -> Bool { search.isOld(key) }

    func isUnclaimed(_ key: NodeKey) -> Bool {
        (visit(of: key)?.new ?? search.oldClaim(key)) == .unclaimed
    }

    private mutating func enqueue(_ key: NodeKey) {
        guard known[key.rawValue] == nil else { return }
        known.set(key.rawValue, 0)
        queue.push(key.rawValue, order: layers.order(of: key))
    }

    private mutating func enqueueMembers(of cluster: Int) {
        for position in 0..<layers.childCount(ofCluster: cluster) {
            let child = layers.child(position, ofCluster: cluster)
            if isOld(child) { enqueue(child) }
        }
    }

    private mutating func visit(_ key: NodeKey) -> Bool {
        let known = prefetched.find(key)
        let (old, cluster) = known?.visit.former ?? search.former(key)
        let node = search.node(key)
        let new = claim(on: node, known)
        add(Visit(key: key, old: old, new: new, cluster: cluster))
        guard old != new else { return true }
        let orphaned = old == nil ? orphanedClusters[layers.origin(of: key)] : nil
        if case .claimed = new {
            if old == .unclaimed, let cluster { enqueueMembers(of: Int(cluster)) }
            if let orphaned { enqueueMembers(of: orphaned) }
            return true
        }
        if let orphaned { claimMembers(of: orphaned, by: key) }
        return enqueueLaterNeighbours(node, known)
    }

    /// Lets a node claim those members of its predecessor that it reaches. No earlier node reaches them:
    /// otherwise it would have claimed them, or they would already be queued.
    private mutating func claimMembers(of cluster: Int, by key: NodeKey) {
        let origin = layers.child(0, ofCluster: cluster)
        for position in 1..<max(1, layers.childCount(ofCluster: cluster)) {
            let child = layers.child(position, ofCluster: cluster)
            guard isOld(child), known[child.rawValue] == nil else { continue }
            let (x, y) = search.level.compared(child)
            if search.reaches(key, x, y, layers.partition(of: child)) {
                known.set(child.rawValue, 0)
                add(
                    Visit(
                        key: child, old: .claimed(origin), new: .claimed(key),
                        cluster: UInt32(truncatingIfNeeded: cluster)))
            } else {
                enqueue(child)
            }
        }
    }

    /// Returns the claim of the first unclaimed earlier neighbour that reaches a node.
    private mutating func claim(
        on node: NeighbourSearch<Scalar>.SearchedNode, _ known: NeighbourPrefetch<Scalar>.Found?
    ) -> Claim {
        var first = node.order
        var claimant: NodeKey?
        func consider(_ others: ArraySlice<NeighbourSearch<Scalar>.Claimant>) {
            for other in others where other.order < first && isStillUnclaimed(other.key) {
                (claimant, first) = (other.key, other.order)
            }
        }
        if let known {
            consider(prefetched.claimants(of: known))
        } else {
            claimants.removeAll(keepingCapacity: true)
            search.findClaimants(of: node, into: &claimants, &neighbours)
            consider(claimants[...])
        }
        let part = layers.partition(of: node.key)
        newClaimants.visit(UnitBox(around: node.x, node.y, reach: Double(search.radius.reach))) { entry in
            let order = layers.order(of: entry.key)
            if order < first, search.reaches(entry.key, node.x, node.y, part) {
                (claimant, first) = (entry.key, order)
            }
        }
        return claimant.map { .claimed($0) } ?? .unclaimed
    }

    /// Queues the later neighbours of a node that has become a claimant.
    private mutating func enqueueLaterNeighbours(
        _ node: NeighbourSearch<Scalar>.SearchedNode, _ known: NeighbourPrefetch<Scalar>.Found?
    ) -> Bool {
        newClaimants.insert(node.key, x: node.x, y: node.y)
        if let known, let laterNeighbours = prefetched.laterNeighbours(of: known) {
            enqueue(laterNeighbours)
            return spend(known.visit.visited)
        }
        laterNeighbours.removeAll(keepingCapacity: true)
        let visited = search.findLaterNeighbours(of: node, limit: .max, into: &laterNeighbours, &neighbours) ?? 0
        enqueue(laterNeighbours[...])
        return spend(visited)
    }

    private mutating func enqueue(_ laterNeighbours: ArraySlice<NeighbourSearch<Scalar>.LaterNeighbour>) {
        for laterNeighbour in laterNeighbours where known[laterNeighbour.key.rawValue] == nil {
            // A node claimed by a node before the new claimant stays claimed, unless that claimant changes, which
            // queues the node anyway.
            if let claimant = laterNeighbour.claimant, isStillUnclaimed(claimant) { continue }
            enqueue(laterNeighbour.key)
        }
    }
}

/// Nodes waiting to be visited, ordered by label: a binary heap (Williams, 1964).
struct OrderHeap {
    struct Item {
        let order: OrderLabel
        let node: UInt32
    }

    private var items: [Item] = []

    mutating func push(_ node: UInt32, order: OrderLabel) {
        items.append(Item(order: order, node: node))
        var index = items.count - 1
        while index > 0, items[(index - 1) / 2].order > items[index].order {
            items.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes all nodes and returns them in order.
    mutating func takeAll() -> [Item] {
        defer { items.removeAll(keepingCapacity: true) }
        return items.sorted { $0.order < $1.order }
    }

    /// Removes the first node if it comes before an order.
    mutating func pop(before order: OrderLabel) -> UInt32? {
        guard let first = items.first, first.order < order else { return nil }
        return pop()
    }

    mutating func pop() -> UInt32? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return first.node }
        items[0] = last
        var index = 0
        while true {
            var least = index
            for child in 2 * index + 1...2 * index + 2
            where child < items.count && items[child].order < items[least].order { least = child }
            if least == index { return first.node }
            items.swapAt(index, least)
            index = least
        }
    }
}
