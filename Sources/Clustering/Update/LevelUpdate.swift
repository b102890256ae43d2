// SPDX-License-Identifier: MIT

/// What departures from a level, and arrivals, change in the greedy pass that makes the next level of it.
///
/// A node's fate hangs on those before it alone: it is claimed by the first unclaimed one that reaches it
/// (see `Fate`). So a node is looked at again only if the one that claimed it departed or is claimed itself
/// now, if it arrived, or if a node before it that had been claimed, or was not there, now claims. Looked at
/// in order, each is looked at once.
struct LevelUpdate<Scalar: Coordinate> {
    /// What the pass makes of a node.
    enum Claim: Equatable {
        case unclaimed
        case claimed(NodeKey)
    }

    /// No node's key: ordinals end before.
    private static var free: UInt32 { .max - 1 }

    let view: LevelView<Scalar>
    let zoom: Int
    let departed: [Departure]
    let arrived: [NodeKey]
    private let radius: LevelRadius<Scalar>
    /// By key: nodes that departed or arrived, and those that are others now under the same key.
    private var changed = NumberMap()
    /// By key, the new fates of all nodes that were looked at: the claimant's key, or `free`.
    private var fates = NumberMap()
    private var waiting = OrderHeap()
    /// By key: nodes that wait, or were looked at.
    private var known = NumberMap()
    /// Clusters whose origin departed and has a successor, which grew from the same point: by that point.
    private var bereft: [UInt32: Int] = [:]
    /// Unclaimed nodes that had been claimed, or were not there.
    private var newClaimants: ShownNodes

    /// Nodes that may still be looked at.
    private(set) var budget: Int

    init(
        _ view: LevelView<Scalar>, zoom: Int, departed: [Departure], arrived: [NodeKey], budget: Int
    ) {
        self.view = view
        self.budget = budget
        self.zoom = zoom
        self.departed = departed
        self.arrived = arrived
        radius = LevelRadius(view.state.options.unitRadius(at: zoom))
        newClaimants = ShownNodes(cell: Double(radius.reach))
        for departure in departed { changed.set(departure.key.rawValue, 0) }
        for key in arrived { changed.set(key.rawValue, 0) }
    }

    /// The new fate of a node; nil for one that was not looked at.
    @inline(__always) func fate(of key: NodeKey) -> Claim? {
        fates[key.rawValue].map { $0 == Self.free ? .unclaimed : .claimed(NodeKey(rawValue: $0)) }
    }

    private mutating func setFate(_ claim: Claim, of key: NodeKey) {
        switch claim {
        case .unclaimed: fates.set(key.rawValue, Self.free)
        case .claimed(let claimant): fates.set(key.rawValue, claimant.rawValue)
        }
    }

    func forEachFate(_ body: (NodeKey, Claim) -> Void) {
        fates.forEach { key, fate in
            body(
                NodeKey(rawValue: key),
                fate == Self.free ? .unclaimed : .claimed(NodeKey(rawValue: fate)))
        }
    }

    /// Whether a node is unclaimed, where it was so before.
    @inline(__always) private func isStillUnclaimed(_ key: NodeKey) -> Bool {
        fates[key.rawValue].map { $0 == Self.free } ?? true
    }

    /// Finds the new fates; false where that costs too much.
    mutating func run() -> Bool {
        let successors = Set(arrived.map { view.state.order(of: $0) })
        for departure in departed where isMade(departure.parent) {
            let cluster = Int(departure.parent)
            guard view.state.child(0, ofCluster: cluster) == departure.key else { continue }
            let order = view.state.order(of: departure.key)
            // Whom the departed had claimed must look again, once it is known what becomes of a successor.
            if successors.contains(order) { bereft[order] = cluster } else { release(cluster) }
        }
        for key in arrived { wait(key) }
        while let key = waiting.pop() {
            guard spend(1), look(at: key) else { return false }
        }
        return true
    }

    /// False once too much has been spent.
    private mutating func spend(_ nodes: Int) -> Bool {
        budget -= nodes
        return budget > 0
    }

    /// Whether a parent is a cluster of this zoom.
    @inline(__always) func isMade(_ parent: UInt32) -> Bool {
        parent != NodeNumber.none && view.state.zoom(ofCluster: Int(parent)) == zoom
    }

    /// Whether a node was at the level before, and is still.
    @inline(__always) func isOld(_ key: NodeKey) -> Bool {
        changed[key.rawValue] == nil
    }

    /// What the pass had made of a node that is still there; nil for one that arrived.
    func oldClaim(_ key: NodeKey) -> Claim? {
        guard isOld(key) else { return nil }
        let parent = view.state.parent(of: key)
        guard isMade(parent) else { return .unclaimed }
        let origin = view.state.child(0, ofCluster: Int(parent))
        return origin == key ? .unclaimed : .claimed(origin)
    }

    func isUnclaimed(_ key: NodeKey) -> Bool {
        (fate(of: key) ?? oldClaim(key)) == .unclaimed
    }

    private mutating func wait(_ key: NodeKey) {
        guard known[key.rawValue] == nil else { return }
        known.set(key.rawValue, 0)
        waiting.push(key, order: view.state.order(of: key))
    }

    private mutating func release(_ cluster: Int) {
        for position in 0..<view.state.childCount(ofCluster: cluster) {
            let child = view.state.child(position, ofCluster: cluster)
            if isOld(child) { wait(child) }
        }
    }

    private mutating func look(at key: NodeKey) -> Bool {
        let old = oldClaim(key)
        let new = claim(on: key)
        setFate(new, of: key)
        guard old != new else { return true }
        let left = old == nil ? bereft[view.state.order(of: key)] : nil
        if case .claimed = new {
            let parent = view.state.parent(of: key)
            if old == .unclaimed, isMade(parent) { release(Int(parent)) }
            if let left { release(left) }
            return true
        }
        if let left { inherit(left, key) }
        return announce(key)
    }

    /// Lets a node claim whom its predecessor had claimed, where it reaches them: nobody before it does, or
    /// they would have been claimed by that one, or look for themselves by now.
    private mutating func inherit(_ cluster: Int, _ key: NodeKey) {
        for position in 1..<max(1, view.state.childCount(ofCluster: cluster)) {
            let child = view.state.child(position, ofCluster: cluster)
            guard isOld(child), known[child.rawValue] == nil else { continue }
            let (x, y) = view.compared(child)
            if reaches(key, x, y, view.state.partition(of: child)) {
                known.set(child.rawValue, 0)
                setFate(.claimed(key), of: child)
            } else {
                wait(child)
            }
        }
    }

    /// The first unclaimed node before this one that reaches it.
    private func claim(on key: NodeKey) -> Claim {
        let (x, y) = view.compared(key)
        let part = view.state.partition(of: key)
        var first = view.state.order(of: key)
        var claimant: NodeKey?
        // Claimants are found by what has become of them: a cluster's centre is within the radius of the
        // node that it grew from, as all that it is the mean of are.
        // One that went on as it was is its own origin, which has to be within the radius itself.
        let slack = 4 * Scalar.roundingSlack
        let near = Double(radius.reach) + slack
        let far = 2 * Double(radius.reach) + slack
        view.visit(UnitBox(around: x, y, reach: far), level: zoom) { node, nodeX, nodeY in
            let isMadeHere = node.isCluster && view.state.zoom(ofCluster: node.number) == zoom
            let (dx, dy) = (nodeX - x, nodeY - y)
            guard dx * dx + dy * dy <= (isMadeHere ? far * far : near * near) else { return }
            let order = view.state.order(of: node)
            guard order < first else { return }
            let origin = isMadeHere ? view.state.child(0, ofCluster: node.number) : node
            guard isOld(origin), isStillUnclaimed(origin), reaches(origin, x, y, part)
            else {
                return
            }
            (claimant, first) = (origin, order)
        }
        newClaimants.visit(UnitBox(around: x, y, reach: Double(radius.reach))) { entry in
            let order = view.state.order(of: entry.key)
            if order < first, reaches(entry.key, x, y, part) { (claimant, first) = (entry.key, order) }
        }
        return claimant.map { .claimed($0) } ?? .unclaimed
    }

    /// Whether a claimant's exact place is within the radius of another's compared one, and of its part.
    @inline(__always) private func reaches(
        _ claimant: NodeKey, _ x: Double, _ y: Double, _ part: UInt32
    ) -> Bool {
        guard view.state.partition(of: claimant) == part else { return false }
        let center = view.exact(claimant)
        let dx = x - center.x
        let dy = y - center.y
        return dx * dx + dy * dy <= radius.squared
    }

    /// Lets those look again whom a node claims now that did not claim before.
    private mutating func announce(_ key: NodeKey) -> Bool {
        let (x, y) = view.compared(key)
        newClaimants.insert(key, x: x, y: y)
        let order = view.state.order(of: key)
        var (visited, found) = (0, [NodeKey]())
        view.visit(UnitBox(around: x, y, reach: Double(radius.reach)), level: zoom + 1) { node, x, y in
            visited += 1
            guard node != key, known[node.rawValue] == nil, view.state.order(of: node) > order,
                reaches(key, x, y, view.state.partition(of: node))
            else { return }
            // Whoever is claimed by one before this node stays so, unless that one changes, which lets it
            // look again in any case.
            if case .claimed(let claimant)? = oldClaim(node), isOld(claimant),
                isStillUnclaimed(claimant), view.state.order(of: claimant) < order
            {
                return
            }
            found.append(node)
        }
        for node in found { wait(node) }
        return spend(visited)
    }
}
