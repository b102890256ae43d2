// SPDX-License-Identifier: MIT

/// What departures from a level, and arrivals, change in the greedy pass that makes the next level of it.
///
/// A node's fate hangs on those before it alone: it is claimed by the first unclaimed one that reaches it
/// (see `Fate`). So a node is looked at again only if the one that claimed it departed or is claimed itself
/// now, if it arrived, or if a node before it that had been claimed, or was not there, now claims. Looked at
/// in order, each is looked at once.
final class LevelUpdate<Scalar: Coordinate> {
    typealias Departure = IndexUpdater<Scalar>.Departure

    /// What the pass makes of a node.
    enum Claim: Equatable {
        case unclaimed
        case claimed(NodeKey)
    }

    let updater: IndexUpdater<Scalar>
    let zoom: Int
    let departed: [Departure]
    let arrived: [NodeKey]
    private let radius: LevelRadius<Scalar>
    /// Nodes that are gone, or are others now under the same key.
    private(set) var departedKeys: Set<NodeKey>
    private(set) var arrivedKeys: Set<NodeKey>
    /// The new fates of all nodes that were looked at.
    private(set) var fates: [NodeKey: Claim] = [:]
    private var waiting = OrderHeap()
    private var known: Set<NodeKey> = []
    /// Clusters whose origin departed and has a successor, which grew from the same point: by that point.
    private var bereft: [UInt32: Int] = [:]
    /// Unclaimed nodes that had been claimed, or were not there.
    private var newClaimants: ShownNodes

    init(updater: IndexUpdater<Scalar>, zoom: Int, departed: [Departure], arrived: [NodeKey]) {
        self.updater = updater
        self.zoom = zoom
        self.departed = departed
        self.arrived = arrived
        radius = LevelRadius(updater.state.options.unitRadius(at: zoom))
        departedKeys = Set(departed.map(\.key))
        arrivedKeys = Set(arrived)
        newClaimants = ShownNodes(cell: Double(radius.reach))
    }

    /// Finds the new fates; false where that costs too much.
    func run() -> Bool {
        let successors = Set(arrived.map { updater.state.order(of: $0) })
        for departure in departed where isMade(departure.parent) {
            let cluster = Int(departure.parent)
            guard updater.state.child(0, ofCluster: cluster) == departure.key else { continue }
            let order = updater.state.order(of: departure.key)
            // Whom the departed had claimed must look again, once it is known what becomes of a successor.
            if successors.contains(order) { bereft[order] = cluster } else { release(cluster) }
        }
        for key in arrived { wait(key) }
        while let key = waiting.pop() {
            guard updater.spend(1), look(at: key) else { return false }
        }
        return true
    }

    /// Whether a parent is a cluster of this zoom.
    @inline(__always) func isMade(_ parent: UInt32) -> Bool {
        parent != NodeNumber.none && updater.state.zoom(ofCluster: Int(parent)) == zoom
    }

    /// Whether a node was at the level before, and is still.
    @inline(__always) func isOld(_ key: NodeKey) -> Bool {
        !departedKeys.contains(key) && !arrivedKeys.contains(key)
    }

    /// What the pass had made of a node that is still there; nil for one that arrived.
    func oldClaim(_ key: NodeKey) -> Claim? {
        guard isOld(key) else { return nil }
        let parent = updater.state.parent(of: key)
        guard isMade(parent) else { return .unclaimed }
        let origin = updater.state.child(0, ofCluster: Int(parent))
        return origin == key ? .unclaimed : .claimed(origin)
    }

    func isUnclaimed(_ key: NodeKey) -> Bool {
        (fates[key] ?? oldClaim(key)) == .unclaimed
    }

    private func wait(_ key: NodeKey) {
        guard known.insert(key).inserted else { return }
        waiting.push(key, order: updater.state.order(of: key))
    }

    private func release(_ cluster: Int) {
        for position in 0..<updater.state.childCount(ofCluster: cluster) {
            let child = updater.state.child(position, ofCluster: cluster)
            if isOld(child) { wait(child) }
        }
    }

    private func look(at key: NodeKey) -> Bool {
        let old = oldClaim(key)
        let new = claim(on: key)
        fates[key] = new
        guard old != new else { return true }
        let left = old == nil ? bereft[updater.state.order(of: key)] : nil
        if case .claimed = new {
            let parent = updater.state.parent(of: key)
            if old == .unclaimed, isMade(parent) { release(Int(parent)) }
            if let left { release(left) }
            return true
        }
        if let left { inherit(left, key) }
        return announce(key)
    }

    /// Lets a node claim whom its predecessor had claimed, where it reaches them: nobody before it does, or
    /// they would have been claimed by that one, or look for themselves by now.
    private func inherit(_ cluster: Int, _ key: NodeKey) {
        for position in 1..<max(1, updater.state.childCount(ofCluster: cluster)) {
            let child = updater.state.child(position, ofCluster: cluster)
            guard isOld(child), !known.contains(child) else { continue }
            let (x, y) = updater.compared(child)
            if reaches(key, x, y, updater.state.partition(of: child)) {
                known.insert(child)
                fates[child] = .claimed(key)
            } else {
                wait(child)
            }
        }
    }

    /// The first unclaimed node before this one that reaches it.
    private func claim(on key: NodeKey) -> Claim {
        let (x, y) = updater.compared(key)
        let part = updater.state.partition(of: key)
        var first = updater.state.order(of: key)
        var claimant: NodeKey?
        // Claimants are found by what has become of them: a cluster's centre is within the radius of the
        // node that it grew from, as all that it is the mean of are.
        let reach = 2 * Double(radius.reach) + 4 * Scalar.roundingSlack
        updater.visit(UnitBox(around: x, y, reach: reach), level: zoom) { node, _, _ in
            let order = updater.state.order(of: node)
            guard order < first else { return }
            let origin = origin(of: node)
            guard isOld(origin), (fates[origin] ?? .unclaimed) == .unclaimed, reaches(origin, x, y, part)
            else {
                return
            }
            (claimant, first) = (origin, order)
        }
        newClaimants.visit(UnitBox(around: x, y, reach: Double(radius.reach))) { entry in
            let order = updater.state.order(of: entry.key)
            if order < first, reaches(entry.key, x, y, part) { (claimant, first) = (entry.key, order) }
        }
        return claimant.map { .claimed($0) } ?? .unclaimed
    }

    /// The node of the level below from which a node of this zoom's own level came.
    @inline(__always) private func origin(of node: NodeKey) -> NodeKey {
        guard node.isCluster, updater.state.zoom(ofCluster: node.number) == zoom else { return node }
        return updater.state.child(0, ofCluster: node.number)
    }

    /// Whether a claimant's exact place is within the radius of another's compared one, and of its part.
    @inline(__always) private func reaches(
        _ claimant: NodeKey, _ x: Double, _ y: Double, _ part: UInt32
    ) -> Bool {
        guard updater.state.partition(of: claimant) == part else { return false }
        let center = updater.exact(claimant)
        let dx = x - center.x
        let dy = y - center.y
        return dx * dx + dy * dy <= radius.squared
    }

    /// Lets those look again whom a node claims now that did not claim before.
    private func announce(_ key: NodeKey) -> Bool {
        let (x, y) = updater.compared(key)
        newClaimants.insert(key, x: x, y: y)
        let order = updater.state.order(of: key)
        var visited = 0
        updater.visit(UnitBox(around: x, y, reach: Double(radius.reach)), level: zoom + 1) { node, x, y in
            visited += 1
            guard node != key, !known.contains(node), updater.state.order(of: node) > order,
                reaches(key, x, y, updater.state.partition(of: node))
            else { return }
            // Whoever is claimed by one before this node stays so, unless that one changes, which lets it
            // look again in any case.
            if case .claimed(let claimant)? = oldClaim(node), isOld(claimant),
                (fates[claimant] ?? .unclaimed) == .unclaimed, updater.state.order(of: claimant) < order
            {
                return
            }
            wait(node)
        }
        return updater.spend(visited)
    }
}
