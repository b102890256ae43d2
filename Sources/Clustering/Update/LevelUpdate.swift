// SPDX-License-Identifier: MIT

/// What departures from a level, and arrivals, change in the greedy pass that makes the next level of it.
///
/// A node's fate hangs on those before it alone: it is claimed by the first unclaimed one that reaches it
/// (see `Fate`). So a node is looked at again only if the one that claimed it departed or is claimed itself
/// now, if it arrived, or if a node before it that had been claimed, or was not there, now claims. Looked at
/// in order, each is looked at once.
struct LevelUpdate<Scalar: Coordinate> {
    typealias Claim = LevelClaim

    /// A node that was looked at.
    struct Look {
        let key: NodeKey
        /// nil for one that arrived.
        let old: Claim?
        let new: Claim
        /// The cluster of this zoom that had it; nil where it passed on as it was, or arrived.
        let cluster: UInt32?
    }

    let zoom: Int
    let departed: [Departure]
    let arrived: [NodeKey]
    let search: LevelSearch<Scalar>
    private var prepared = PreparedLooks<Scalar>()
    private let placesOfShares: [PointPlaces<Scalar>]
    /// Into how many shares work may be split.
    var shareLimit: Int { placesOfShares.count }
    private(set) var looks: [Look] = []
    /// By key: the place among `looks`.
    private var places: NumberMap
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
        placesOfShares = places
        self.places = NumberMap(capacity: 2 * arrived.count)
        known = NumberMap(capacity: 2 * arrived.count)
        newClaimants = ShownNodes(cell: Double(search.radius.reach))
    }

    /// What was found when a node was looked at; nil for one that was not.
    @inline(__always) func look(of key: NodeKey) -> Look? {
        places[key.rawValue].map { looks[Int($0)] }
    }

    private mutating func add(_ look: Look) {
        places.set(look.key.rawValue, UInt32(truncatingIfNeeded: looks.count))
        looks.append(look)
    }

    /// Whether a node is unclaimed, where it was so before.
    @inline(__always) private func isStillUnclaimed(_ key: NodeKey) -> Bool {
        look(of: key).map { $0.new == .unclaimed } ?? true
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
        prepared = PreparedLooks(keys, search, placesOfShares)
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

    func isUnclaimed(_ key: NodeKey) -> Bool {
        (look(of: key)?.new ?? search.oldClaim(key)) == .unclaimed
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
        let known = prepared.find(key)
        let (old, cluster) = known?.look.former ?? search.former(key)
        let new = claim(on: key, known)
        add(Look(key: key, old: old, new: new, cluster: cluster))
        guard old != new else { return true }
        let left = old == nil ? bereft[search.view.state.order(of: key)] : nil
        if case .claimed = new {
            if old == .unclaimed, let cluster { release(Int(cluster)) }
            if let left { release(left) }
            return true
        }
        if let left { inherit(left, key) }
        return announce(key, known)
    }

    /// Lets a node claim whom its predecessor had claimed, where it reaches them: nobody before it does, or
    /// they would have been claimed by that one, or look for themselves by now.
    private mutating func inherit(_ cluster: Int, _ key: NodeKey) {
        let origin = search.view.state.child(0, ofCluster: cluster)
        for position in 1..<max(1, search.view.state.childCount(ofCluster: cluster)) {
            let child = search.view.state.child(position, ofCluster: cluster)
            guard isOld(child), known[child.rawValue] == nil else { continue }
            let (x, y) = search.view.compared(child)
            if search.reaches(key, x, y, search.view.state.partition(of: child)) {
                known.set(child.rawValue, 0)
                add(
                    Look(
                        key: child, old: .claimed(origin), new: .claimed(key),
                        cluster: UInt32(truncatingIfNeeded: cluster)))
            } else {
                wait(child)
            }
        }
    }

    /// The first unclaimed node before this one that reaches it.
    private mutating func claim(
        on key: NodeKey, _ known: PreparedLooks<Scalar>.Found?
    ) -> Claim {
        var first = search.view.state.order(of: key)
        var claimant: NodeKey?
        func consider(_ others: ArraySlice<LevelSearch<Scalar>.Claimant>) {
            for other in others where other.order < first && isStillUnclaimed(other.key) {
                (claimant, first) = (other.key, other.order)
            }
        }
        if let known {
            consider(prepared.claimants(of: known))
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
    private mutating func announce(
        _ key: NodeKey, _ known: PreparedLooks<Scalar>.Found?
    ) -> Bool {
        let (x, y) = search.view.compared(key)
        newClaimants.insert(key, x: x, y: y)
        if let known, let hearers = prepared.hearers(of: known) {
            tell(hearers)
            return spend(known.look.visited)
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
