// SPDX-License-Identifier: MIT

/// Finds neighbours of a node that do not depend on the greedy pass, so that those of many nodes can be found in
/// advance and concurrently.
struct NeighbourSearch<Scalar: Coordinate> {
    /// A node to search around.
    struct SearchedNode {
        let key: NodeKey
        /// The position in which it is compared with others.
        let x: Double
        let y: Double
        let order: OrderLabel
    }

    /// A formerly unclaimed node that reaches the searched node.
    struct Claimant {
        let key: NodeKey
        let order: OrderLabel
    }

    /// A node that the searched node reaches and precedes.
    struct LaterNeighbour {
        let key: NodeKey
        /// Its former claimant, if that still exists and precedes the searched node.
        let claimant: NodeKey?
    }

    /// A node inside the searched box.
    struct Neighbour {
        fileprivate var key: NodeKey
        fileprivate var isMade = false
        fileprivate var x: Double
        fileprivate var y: Double
        fileprivate var order = OrderLabel(rawValue: 0)
    }

    let level: LevelReader<Scalar>
    let zoom: Int
    let radius: LevelRadius<Scalar>
    /// Keys of nodes that departed or arrived, including those that now denote another node.
    private let changed: NumberMap

    init(_ level: LevelReader<Scalar>, zoom: Int, departed: [Departure], arrived: [NodeKey]) {
        var changed = NumberMap(capacity: departed.count + arrived.count)
        for departure in departed { changed.set(departure.key.rawValue, 0) }
        for key in arrived { changed.set(key.rawValue, 0) }
        self.init(level, zoom, changed)
    }

    private init(_ level: LevelReader<Scalar>, _ zoom: Int, _ changed: NumberMap) {
        self.level = level
        self.zoom = zoom
        self.changed = changed
        radius = LevelRadius(level.layers.options.unitRadius(at: zoom))
    }

    /// The same search for another thread, with its own cache of positions.
    func with(_ positions: PointPositionCache<Scalar>) -> Self {
        Self(LevelReader(layers: level.layers, spatial: level.spatial, positions: positions), zoom, changed)
    }

    func node(_ key: NodeKey) -> SearchedNode { node(key, at: level.compared(key)) }

    /// - Parameter position: the position in which the node is compared with others.
    func node(_ key: NodeKey, at position: (x: Double, y: Double)) -> SearchedNode {
        SearchedNode(key: key, x: position.x, y: position.y, order: level.layers.order(of: key))
    }

    /// Whether a parent is a cluster of this zoom.
    @inline(__always) func isMade(_ parent: UInt32) -> Bool {
        parent != NodeNumber.none && level.layers.zoom(ofCluster: Int(parent)) == zoom
    }

    /// Whether a node was at the level before and still is.
    @inline(__always) func isOld(_ key: NodeKey) -> Bool { changed[key.rawValue] == nil }

    /// A node's former claimant; nil if it had none.
    @inline(__always) func oldClaimant(_ key: NodeKey) -> NodeKey? {
        let parent = level.layers.parent(of: key)
        guard isMade(parent) else { return nil }
        let origin = level.layers.child(0, ofCluster: Int(parent))
        return origin == key ? nil : origin
    }

    /// The former claim on a node that is still there; nil for a node that arrived.
    func oldClaim(_ key: NodeKey) -> LevelClaim? { former(key).claim }

    /// The former claim on a node, and the cluster of this zoom that contained it.
    func former(_ key: NodeKey) -> (claim: LevelClaim?, cluster: UInt32?) {
        guard isOld(key) else { return (nil, nil) }
        let parent = level.layers.parent(of: key)
        guard isMade(parent) else { return (.unclaimed, nil) }
        let origin = level.layers.child(0, ofCluster: Int(parent))
        return (origin == key ? .unclaimed : .claimed(origin), parent)
    }

    /// Whether only few nodes of the pass's level lie within a radius of each other. That holds for the nodes
    /// that an earlier pass left, which are apart; points may be arbitrarily crowded.
    private var isSparse: Bool { zoom < level.layers.options.maximumZoom }

    /// Appends the formerly unclaimed nodes that reach a node and precede it.
    ///
    /// - Parameter neighbours: working memory.
    func findClaimants(of node: SearchedNode, into found: inout [Claimant], _ neighbours: inout [Neighbour]) {
        guard isSparse else { return findClaimantsInCrowd(of: node, into: &found, &neighbours) }
        findNeighbours(of: node, into: &neighbours)
        appendClaimants(of: node, neighbours, into: &found)
    }

    /// Appends the nodes that a node reaches and precedes.
    ///
    /// - Parameter neighbours: working memory.
    /// - Returns: the number of nodes compared; nil if there are more than `limit`, in which case some may have
    ///   been appended.
    func findLaterNeighbours(
        of node: SearchedNode, limit: Int, into found: inout [LaterNeighbour], _ neighbours: inout [Neighbour]
    ) -> Int? {
        findNeighbours(of: node, limit: limit, into: &neighbours)
        guard neighbours.count <= limit else { return nil }
        appendLaterNeighbours(of: node, neighbours, into: &found)
        return neighbours.count
    }

    /// Appends the earlier neighbours that reach a node; if there are none, the later ones that it reaches.
    ///
    /// - Parameter neighbours: working memory.
    /// - Returns: the number of nodes compared to find later neighbours; nil if they were not searched for, or if
    ///   there are more than `limit`.
    func findAll(
        of node: SearchedNode, limit: Int, claimants: inout [Claimant],
        laterNeighbours: inout [LaterNeighbour], _ neighbours: inout [Neighbour]
    ) -> Int? {
        let known = claimants.count
        findClaimants(of: node, into: &claimants, &neighbours)
        // A claimed node claims nobody.
        guard claimants.count == known, limit > 0 else { return nil }
        guard isSparse else {
            return findLaterNeighbours(of: node, limit: limit, into: &laterNeighbours, &neighbours)
        }
        guard neighbours.count <= limit else { return nil }
        appendLaterNeighbours(of: node, neighbours, into: &laterNeighbours)
        return neighbours.count
    }

    /// Finds the nodes of the pass's level around a node, including itself, within the distance at which one may
    /// reach the other.
    ///
    /// - Parameter limit: if there are more nodes than this, their orders are not looked up.
    private func findNeighbours(of node: SearchedNode, limit: Int = .max, into neighbours: inout [Neighbour]) {
        neighbours.removeAll(keepingCapacity: true)
        level.visit(
            around: node.x, node.y, reach: Double(radius.reach), squared: Double(radius.reachSquared),
            level: zoom + 1
        ) { key, x, y in
            neighbours.append(Neighbour(key: key, x: x, y: y))
        }
        guard neighbours.count <= limit else { return }
        // The orders are read in one loop, so that the waits for memory overlap.
        for index in neighbours.indices {
            neighbours[index].order = level.layers.order(of: neighbours[index].key)
        }
    }

    private func appendClaimants(of node: SearchedNode, _ neighbours: [Neighbour], into found: inout [Claimant]) {
        let part = level.layers.partition(of: node.key)
        for neighbour in neighbours where neighbour.order < node.order {
            let (dx, dy) = (neighbour.x - node.x, neighbour.y - node.y)
            let squared = dx * dx + dy * dy
            guard isOld(neighbour.key), wasUnclaimed(neighbour),
                level.layers.partition(of: neighbour.key) == part,
                squared < Double(radius.innerSquared)
                    || (neighbour.key.isCluster
                        ? reaches(neighbour.key, node.x, node.y, part) : squared <= radius.squared)
            else { continue }
            found.append(Claimant(key: neighbour.key, order: neighbour.order))
        }
    }

    /// Whether a node that is still at the level was formerly unclaimed.
    @inline(__always) private func wasUnclaimed(_ neighbour: Neighbour) -> Bool {
        let parent = level.layers.parent(of: neighbour.key)
        // A cluster has its origin's order label.
        return !isMade(parent) || level.layers.order(of: NodeKey(ClusterOrdinal(rawValue: parent))) == neighbour.order
    }

    private func appendLaterNeighbours(
        of node: SearchedNode, _ neighbours: [Neighbour], into found: inout [LaterNeighbour]
    ) {
        let order = node.order
        // A point's position is compared exactly.
        let center = node.key.isCluster ? level.exact(node.key) : (x: node.x, y: node.y)
        let part = level.layers.partition(of: node.key)
        for neighbour in neighbours where neighbour.order > order && neighbour.key != node.key {
            let (dx, dy) = (neighbour.x - center.x, neighbour.y - center.y)
            guard dx * dx + dy * dy <= radius.squared, level.layers.partition(of: neighbour.key) == part else {
                continue
            }
            var claimant = isOld(neighbour.key) ? oldClaimant(neighbour.key) : nil
            if let known = claimant, !isOld(known) || level.layers.order(of: known) >= order {
                claimant = nil
            }
            found.append(LaterNeighbour(key: neighbour.key, claimant: claimant))
        }
    }

    /// Finds claimants through the clusters and nodes they became at the next level: these are few, however many
    /// nodes surround the searched one.
    private func findClaimantsInCrowd(
        of searched: SearchedNode, into found: inout [Claimant], _ neighbours: inout [Neighbour]
    ) {
        let (x, y) = (searched.x, searched.y)
        let part = level.layers.partition(of: searched.key)
        // A cluster's centre is within the radius of the node from which it grew, because all the positions of which it
        // is the mean are. A node that passed on unchanged is its own origin and must itself be within the radius.
        let slack = 4 * Scalar.roundingSlack + 2 * level.layers.options.centerSlack
        let near = Double(radius.reach) + slack
        let far = 2 * Double(radius.reach) + slack
        neighbours.removeAll(keepingCapacity: true)
        level.visit(around: x, y, reach: far, squared: far * far, level: zoom) { node, nodeX, nodeY in
            let (dx, dy) = (nodeX - x, nodeY - y)
            guard node.isCluster || dx * dx + dy * dy <= near * near else { return }
            neighbours.append(Neighbour(key: node, x: nodeX, y: nodeY))
        }
        lookUpOrders(&neighbours)
        for neighbour in neighbours where neighbour.order < searched.order {
            let (dx, dy) = (neighbour.x - x, neighbour.y - y)
            let squared = dx * dx + dy * dy
            guard neighbour.isMade || squared <= near * near else { continue }
            let origin = neighbour.isMade ? level.layers.child(0, ofCluster: neighbour.key.number) : neighbour.key
            guard isOld(origin),
                // A point was found at its exact position, so that is not looked up again.
                neighbour.key.isCluster
                    ? reaches(origin, x, y, part)
                    : squared <= radius.squared && level.layers.partition(of: origin) == part
            else { continue }
            found.append(Claimant(key: origin, order: neighbour.order))
        }
    }

    /// Reads the orders of all neighbours in one loop, so that the waits for memory overlap.
    private func lookUpOrders(_ neighbours: inout [Neighbour]) {
        for index in neighbours.indices {
            let key = neighbours[index].key
            neighbours[index].order = level.layers.order(of: key)
            neighbours[index].isMade = key.isCluster && level.layers.zoom(ofCluster: key.number) == zoom
        }
    }

    /// Whether a claimant's exact position is within the radius of a rounded position, in the same partition.
    @inline(__always) func reaches(_ claimant: NodeKey, _ x: Double, _ y: Double, _ part: UInt32) -> Bool {
        guard level.layers.partition(of: claimant) == part else { return false }
        let center = level.exact(claimant)
        let dx = x - center.x
        let dy = y - center.y
        return dx * dx + dy * dy <= radius.squared
    }
}
