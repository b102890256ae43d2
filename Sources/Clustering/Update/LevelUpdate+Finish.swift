// SPDX-License-Identifier: MIT

/// What a level's new fates make of the next level.
struct LevelOutcome {
    /// A cluster to be made.
    struct Plan {
        /// Where its children start among `members`, the node that it grows from first.
        let start: Int
        let count: Int
    }

    /// What departs from the next level.
    var departed: [Departure]
    /// What arrives there, the clusters to be made apart.
    var arrived: [NodeKey] = []
    /// Clusters that are no more.
    var dying: [Int] = []
    /// In the order of the nodes that the clusters grow from.
    var plans: [Plan] = []
    var members: [NodeKey] = []
}

/// Making the next level's nodes out of the new fates.
extension LevelUpdate {
    /// Nodes, or clusters by their ordinals, each once.
    private struct Numbers {
        private var known: NumberMap
        private(set) var all: [UInt32] = []

        /// - Parameter capacity: how many there may be without growing.
        init(capacity: Int) { known = NumberMap(capacity: capacity) }

        mutating func insert(_ number: UInt32) {
            guard known[number] == nil else { return }
            known.set(number, 0)
            all.append(number)
        }

        func contains(_ number: UInt32) -> Bool { known[number] != nil }
    }

    /// What departs from the next level, what arrives there, and which clusters go and come.
    func outcome() -> LevelOutcome {
        var outcome = LevelOutcome(departed: departed.filter { !isMade($0.parent) })
        let dying = plan(&outcome)
        outcome.dying = dying.all.map { Int($0) }
        var inPlans = NumberMap(capacity: outcome.members.count)
        for member in outcome.members { inPlans.set(member.rawValue, 0) }
        for number in affected(outcome, dying).all {
            let key = NodeKey(rawValue: number)
            let passedBefore = isOld(key) && !isMade(search.view.state.parent(of: key))
            let passesNow = isUnclaimed(key) && inPlans[number] == nil && !keepsCluster(key, dying)
            if passedBefore && !passesNow { outcome.departed.append(search.view.departure(key)) }
            if passesNow && !passedBefore { outcome.arrived.append(key) }
        }
        for cluster in dying.all {
            outcome.departed.append(search.view.departure(NodeKey(ClusterOrdinal(rawValue: cluster))))
        }
        return outcome
    }

    /// Whether a node goes on as the cluster that grew from it before.
    private func keepsCluster(_ key: NodeKey, _ dying: Numbers) -> Bool {
        guard isOld(key) else { return false }
        let parent = search.view.state.parent(of: key)
        return isMade(parent) && !dying.contains(parent)
    }

    /// Nodes that may go on otherwise than before.
    private func affected(_ outcome: LevelOutcome, _ dying: Numbers) -> Numbers {
        var keys = Numbers(capacity: 2 * fateCount)
        forEachFate { key, _ in keys.insert(key.rawValue) }
        for plan in outcome.plans { keys.insert(outcome.members[plan.start].rawValue) }
        for cluster in outcome.dying {
            for position in 0..<search.view.state.childCount(ofCluster: cluster) {
                let child = search.view.state.child(position, ofCluster: cluster)
                if isOld(child) { keys.insert(child.rawValue) }
            }
        }
        return keys
    }

    /// Finds the clusters to be made, in order, and those that are no more.
    private func plan(_ outcome: inout LevelOutcome) -> Numbers {
        let joined = Joined(self)
        var dying = Numbers(capacity: departed.count)
        var origins = touched(&dying).filter { isUnclaimed(NodeKey(rawValue: $0)) }
        // Ordinals follow the nodes' order, so that a build on the same changes is the same.
        sort(&origins)
        var members: [UInt32] = []
        for number in origins {
            let origin = NodeKey(rawValue: number)
            let cluster = formerCluster(of: origin)
            members.removeAll(keepingCapacity: true)
            joined.forEach(of: number) { members.append($0) }
            if let cluster { appendKept(of: cluster, to: &members) }
            sort(&members)
            if let cluster {
                if isSame(cluster, members) { continue }
                dying.insert(UInt32(truncatingIfNeeded: cluster))
            }
            guard !members.isEmpty else { continue }
            outcome.plans.append(
                LevelOutcome.Plan(start: outcome.members.count, count: members.count + 1))
            outcome.members.append(origin)
            for member in members { outcome.members.append(NodeKey(rawValue: member)) }
        }
        return dying
    }

    /// Brings nodes into the level's order.
    private func sort(_ nodes: inout [UInt32]) {
        guard nodes.count > 1 else { return }
        var ranked = nodes.map { number in
            UInt64(search.view.state.order(of: NodeKey(rawValue: number))) << 32 | UInt64(number)
        }
        ranked.sort()
        for place in nodes.indices { nodes[place] = UInt32(truncatingIfNeeded: ranked[place]) }
    }

    /// Claimants whose claims may be others now; to `dying` come clusters that are no more in any case.
    private func touched(_ dying: inout Numbers) -> [UInt32] {
        var touched = Numbers(capacity: fateCount)
        func touch(_ cluster: UInt32, _ dying: inout Numbers) {
            let origin = search.view.state.child(0, ofCluster: Int(cluster))
            if isOld(origin), isUnclaimed(origin) {
                touched.insert(origin.rawValue)
            } else {
                dying.insert(cluster)
            }
        }
        for departure in departed where isMade(departure.parent) { touch(departure.parent, &dying) }
        forEachFate { key, claim in
            let old = oldClaim(key)
            guard old != claim else { return }
            if old != nil {
                let parent = search.view.state.parent(of: key)
                if isMade(parent) { touch(parent, &dying) }
            }
            switch claim {
            case .unclaimed: touched.insert(key.rawValue)
            case .claimed(let claimant): touched.insert(claimant.rawValue)
            }
        }
        return touched.all
    }

    /// The cluster that grew from a node at this zoom before.
    private func formerCluster(of origin: NodeKey) -> Int? {
        guard isOld(origin), oldClaim(origin) == .unclaimed else { return nil }
        let parent = search.view.state.parent(of: origin)
        return isMade(parent) ? Int(parent) : nil
    }

    /// Appends those that a cluster's origin had claimed and that were not looked at.
    private func appendKept(of cluster: Int, to members: inout [UInt32]) {
        for position in 1..<max(1, search.view.state.childCount(ofCluster: cluster)) {
            let child = search.view.state.child(position, ofCluster: cluster)
            if isOld(child), fate(of: child) == nil { members.append(child.rawValue) }
        }
    }

    private func isSame(_ cluster: Int, _ members: [UInt32]) -> Bool {
        guard search.view.state.childCount(ofCluster: cluster) == members.count + 1 else { return false }
        return members.indices.allSatisfy { place in
            let member = NodeKey(rawValue: members[place])
            return isOld(member) && search.view.state.child(place + 1, ofCluster: cluster) == member
        }
    }
}

/// By claimant, the nodes that it claims of those that were looked at: lists in one block.
private struct Joined {
    private var heads: NumberMap
    private var links: [(key: UInt32, next: UInt32)] = []

    init<Scalar>(_ level: LevelUpdate<Scalar>) {
        heads = NumberMap(capacity: level.fateCount)
        level.forEachFate { key, claim in
            guard case .claimed(let claimant) = claim else { return }
            let next = heads[claimant.rawValue] ?? .max
            heads.set(claimant.rawValue, UInt32(truncatingIfNeeded: links.count))
            links.append((key.rawValue, next))
        }
    }

    func forEach(of claimant: UInt32, _ body: (UInt32) -> Void) {
        var place = heads[claimant] ?? .max
        while place != .max {
            body(links[Int(place)].key)
            place = links[Int(place)].next
        }
    }
}
