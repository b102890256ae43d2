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

    let zoom: Int
    let departed: [Departure]
    let arrived: [NodeKey]
    let search: LevelSearch<Scalar>
    private var prepared = PreparedLooks<Scalar>()
    private let places: [PointPlaces<Scalar>]
    /// By key, the new fates of all nodes that were looked at: the claimant's key, or `free`.
    private var fates: NumberMap
    private var waiting = OrderHeap()
    /// By key: nodes that wait, or were looked at.
    private var known: NumberMap
    /// Clusters whose origin departed and has a successor, which grew from the same point: by that point.
    private var bereft: [UInt32: Int] = [:]
    /// Unclaimed nodes that had been claimed, or were not there.
    private var newClaimants: ShownNodes

    /// Nodes that may still be looked at.
    private(set) var budget: Int
    /// Kept for their memory.
    private var claimants: [LevelSearch<Scalar>.Claimant] = []
    private var hearers: [LevelSearch<Scalar>.Hearer] = []
    private var neighbours: [LevelSearch<Scalar>.Neighbour] = []

    /// - Parameter places: for each share of nodes looked at beforehand, places of points that are its own.
    init(
        _ view: LevelView<Scalar>, zoom: Int, departed: [Departure], arrived: [NodeKey], budget: Int,
        places: [PointPlaces<Scalar>]
    ) {
        self.budget = budget
        self.zoom = zoom
        self.departed = departed
        self.arrived = arrived
        search = LevelSearch(view, zoom: zoom, departed: departed, arrived: arrived)
        self.places = places
        fates = NumberMap(capacity: 2 * arrived.count)
        known = NumberMap(capacity: 2 * arrived.count)
        newClaimants = ShownNodes(cell: Double(search.radius.reach))
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

    /// How many nodes were looked at.
    var fateCount: Int { fates.count }

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
        let successors = Set(arrived.map { search.view.state.order(of: $0) })
        for departure in departed where isMade(departure.parent) {
            let cluster = Int(departure.parent)
            guard search.view.state.child(0, ofCluster: cluster) == departure.key else { continue }
            let order = search.view.state.order(of: departure.key)
            // Whom the departed had claimed must look again, once it is known what becomes of a successor.
            if successors.contains(order) { bereft[order] = cluster } else { release(cluster) }
        }
        for key in arrived { wait(key) }
        prepare()
        while let key = waiting.pop() {
            guard spend(1), look(at: key) else { return false }
        }
        return true
    }

    /// Finds out about all that wait what can be known beforehand.
    private mutating func prepare() {
        var keys: [NodeKey] = []
        known.forEach { key, _ in keys.append(NodeKey(rawValue: key)) }
        prepared = PreparedLooks(keys, search, places)
    }

    /// False once too much has been spent.
    private mutating func spend(_ nodes: Int) -> Bool {
        budget -= nodes
        return budget > 0
    }

    /// Whether a parent is a cluster of this zoom.
    @inline(__always) func isMade(_ parent: UInt32) -> Bool { search.isMade(parent) }

    /// Whether a node was at the level before, and is still.
    @inline(__always) func isOld(_ key: NodeKey) -> Bool { search.isOld(key) }

    /// What the pass had made of a node that is still there; nil for one that arrived.
    func oldClaim(_ key: NodeKey) -> Claim? {
        guard isOld(key) else { return nil }
        return search.oldClaimant(key).map { .claimed($0) } ?? .unclaimed
    }

    func isUnclaimed(_ key: NodeKey) -> Bool {
        (fate(of: key) ?? oldClaim(key)) == .unclaimed
    }

    private mutating func wait(_ key: NodeKey) {
        guard known[key.rawValue] == nil else { return }
        known.set(key.rawValue, 0)
        waiting.push(key, order: search.view.state.order(of: key))
    }

    private mutating func release(_ cluster: Int) {
        for position in 0..<search.view.state.childCount(ofCluster: cluster) {
            let child = search.view.state.child(position, ofCluster: cluster)
            if isOld(child) { wait(child) }
        }
    }

    private mutating func look(at key: NodeKey) -> Bool {
        let old = oldClaim(key)
        let new = claim(on: key)
        setFate(new, of: key)
        guard old != new else { return true }
        let left = old == nil ? bereft[search.view.state.order(of: key)] : nil
        if case .claimed = new {
            let parent = search.view.state.parent(of: key)
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
        for position in 1..<max(1, search.view.state.childCount(ofCluster: cluster)) {
            let child = search.view.state.child(position, ofCluster: cluster)
            guard isOld(child), known[child.rawValue] == nil else { continue }
            let (x, y) = search.view.compared(child)
            if search.reaches(key, x, y, search.view.state.partition(of: child)) {
                known.set(child.rawValue, 0)
                setFate(.claimed(key), of: child)
            } else {
                wait(child)
            }
        }
    }

    /// The first unclaimed node before this one that reaches it.
    private mutating func claim(on key: NodeKey) -> Claim {
        var first = search.view.state.order(of: key)
        var claimant: NodeKey?
        func consider(_ others: ArraySlice<LevelSearch<Scalar>.Claimant>) {
            for other in others where other.order < first && isStillUnclaimed(other.key) {
                (claimant, first) = (other.key, other.order)
            }
        }
        if let known = prepared.claimants(of: key) {
            consider(known)
        } else {
            claimants.removeAll(keepingCapacity: true)
            search.findClaimants(of: key, into: &claimants, &neighbours)
            consider(claimants[...])
        }
        let (x, y) = search.view.compared(key)
        let part = search.view.state.partition(of: key)
        newClaimants.visit(UnitBox(around: x, y, reach: Double(search.radius.reach))) { entry in
            let order = search.view.state.order(of: entry.key)
            if order < first, search.reaches(entry.key, x, y, part) { (claimant, first) = (entry.key, order) }
        }
        return claimant.map { .claimed($0) } ?? .unclaimed
    }

    /// Lets those look again whom a node claims now that did not claim before.
    private mutating func announce(_ key: NodeKey) -> Bool {
        let (x, y) = search.view.compared(key)
        newClaimants.insert(key, x: x, y: y)
        if let (known, visited) = prepared.hearers(of: key) {
            tell(known)
            return spend(visited)
        }
        hearers.removeAll(keepingCapacity: true)
        let visited = search.findHearers(of: key, limit: .max, into: &hearers, &neighbours) ?? 0
        tell(hearers[...])
        return spend(visited)
    }

    private mutating func tell(_ hearers: ArraySlice<LevelSearch<Scalar>.Hearer>) {
        for hearer in hearers where known[hearer.key.rawValue] == nil {
            // Whoever is claimed by one before the new claimant stays so, unless that one changes, which lets
            // it look again in any case.
            if let claimant = hearer.claimant, isStillUnclaimed(claimant) { continue }
            wait(hearer.key)
        }
    }
}
