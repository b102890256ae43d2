// SPDX-License-Identifier: MIT

/// Making the next level's nodes out of the new fates.
extension LevelUpdate {
    /// A cluster to be made: the node that it grows from and those that it claims, in order.
    private struct Plan {
        let origin: NodeKey
        let members: [NodeKey]
    }

    /// Changes the tree accordingly, and tells what departs from the next level and what arrives there.
    func finish() -> (departed: [Departure], arrived: [NodeKey]) {
        let (plans, dying) = plan()
        var next: [Departure] = departed.filter { !isMade($0.parent) }
        var arrivals: [NodeKey] = []
        var inPlans = NumberMap()
        for plan in plans {
            inPlans.set(plan.origin.rawValue, 0)
            for member in plan.members { inPlans.set(member.rawValue, 0) }
        }
        affected(plans, dying).forEach { number, _ in
            let key = NodeKey(rawValue: number)
            let passedBefore = isOld(key) && !isMade(updater.state.parent(of: key))
            let passesNow = isUnclaimed(key) && inPlans[number] == nil && !keepsCluster(key, dying)
            if passedBefore && !passesNow { next.append(updater.departure(key)) }
            if passesNow && !passedBefore { arrivals.append(key) }
        }
        for cluster in dying {
            next.append(updater.departure(NodeKey(ClusterOrdinal(rawValue: UInt32(cluster)))))
            if let place = updater.state.overlayCluster(cluster) {
                updater.state.clusters[place].isAlive = false
            }
        }
        updater.state.clusterCount += plans.count - dying.count
        for key in arrivals { updater.state.setParent(NodeNumber.none, of: key) }
        for plan in plans { arrivals.append(make(plan)) }
        return (next, arrivals)
    }

    /// Whether a node goes on as the cluster that grew from it before.
    private func keepsCluster(_ key: NodeKey, _ dying: Set<Int>) -> Bool {
        guard isOld(key) else { return false }
        let parent = updater.state.parent(of: key)
        return isMade(parent) && !dying.contains(Int(parent))
    }

    /// Nodes that may go on otherwise than before.
    private func affected(_ plans: [Plan], _ dying: Set<Int>) -> NumberMap {
        var keys = NumberMap()
        forEachFate { key, _ in keys.set(key.rawValue, 0) }
        for plan in plans { keys.set(plan.origin.rawValue, 0) }
        for cluster in dying {
            for position in 0..<updater.state.childCount(ofCluster: cluster) {
                let child = updater.state.child(position, ofCluster: cluster)
                if isOld(child) { keys.set(child.rawValue, 0) }
            }
        }
        return keys
    }

    /// The clusters to be made, in order, and those that are no more.
    private func plan() -> ([Plan], Set<Int>) {
        var joined: [NodeKey: [NodeKey]] = [:]
        forEachFate { key, claim in
            if case .claimed(let claimant) = claim { joined[claimant, default: []].append(key) }
        }
        let (touched, certain) = touched()
        var dying = certain
        var plans: [Plan] = []
        for origin in touched where isUnclaimed(origin) {
            let cluster = formerCluster(of: origin)
            let members = members(of: origin, cluster, joined[origin] ?? [])
            if let cluster {
                if isSame(cluster, origin, members) { continue }
                dying.insert(cluster)
            }
            if !members.isEmpty { plans.append(Plan(origin: origin, members: members)) }
        }
        // Ordinals follow the nodes' order, so that a build on the same changes is the same.
        let state = updater.state
        plans.sort { state.order(of: $0.origin) < state.order(of: $1.origin) }
        return (plans, dying)
    }

    /// Claimants whose claims may be others now, and clusters that are no more in any case.
    private func touched() -> (Set<NodeKey>, Set<Int>) {
        var touched: Set<NodeKey> = []
        var dying: Set<Int> = []
        func touch(_ cluster: UInt32) {
            let origin = updater.state.child(0, ofCluster: Int(cluster))
            if isOld(origin), isUnclaimed(origin) {
                touched.insert(origin)
            } else {
                dying.insert(Int(cluster))
            }
        }
        for departure in departed where isMade(departure.parent) { touch(departure.parent) }
        forEachFate { key, claim in
            let old = oldClaim(key)
            guard old != claim else { return }
            if old != nil, isMade(updater.state.parent(of: key)) { touch(updater.state.parent(of: key)) }
            switch claim {
            case .unclaimed: touched.insert(key)
            case .claimed(let claimant): touched.insert(claimant)
            }
        }
        return (touched, dying)
    }

    /// The cluster that grew from a node at this zoom before.
    private func formerCluster(of origin: NodeKey) -> Int? {
        guard isOld(origin), oldClaim(origin) == .unclaimed else { return nil }
        let parent = updater.state.parent(of: origin)
        return isMade(parent) ? Int(parent) : nil
    }

    private func members(of origin: NodeKey, _ cluster: Int?, _ joined: [NodeKey]) -> [NodeKey] {
        var members = joined
        if let cluster {
            for position in 1..<max(1, updater.state.childCount(ofCluster: cluster)) {
                let child = updater.state.child(position, ofCluster: cluster)
                if isOld(child), fate(of: child) == nil { members.append(child) }
            }
        }
        let state = updater.state
        members.sort { state.order(of: $0) < state.order(of: $1) }
        return members
    }

    private func isSame(_ cluster: Int, _ origin: NodeKey, _ members: [NodeKey]) -> Bool {
        guard updater.state.childCount(ofCluster: cluster) == members.count + 1 else { return false }
        return members.indices.allSatisfy { place in
            isOld(members[place])
                && updater.state.child(place + 1, ofCluster: cluster) == members[place]
        }
    }

    /// Makes a cluster as `ClusterFormer` does: sums are taken in order, the origin first.
    private func make(_ plan: Plan) -> NodeKey {
        let ordinal = UInt32(
            truncatingIfNeeded: updater.state.baseClusterCount + updater.state.clusters.count)
        var (sumX, sumY, weight) = (0.0, 0.0, 0.0)
        var count: UInt32 = 0
        let start = updater.state.children.count
        for member in [plan.origin] + plan.members {
            let (x, y) = updater.exact(member)
            let share = updater.state.weight(of: member)
            sumX += x * share
            sumY += y * share
            weight += share
            count &+= updater.state.count(of: member)
            updater.state.children.append(member)
            updater.state.setParent(ordinal, of: member)
        }
        updater.state.clusters.append(
            OverlayState.Cluster(
                x: sumX / weight, y: sumY / weight, weight: weight,
                partition: updater.state.partition(of: plan.origin), count: count,
                order: updater.state.order(of: plan.origin),
                childStart: UInt32(truncatingIfNeeded: start),
                childCount: UInt32(truncatingIfNeeded: plan.members.count + 1), parent: NodeNumber.none,
                zoom: UInt8(truncatingIfNeeded: zoom), isAlive: true))
        return NodeKey(ClusterOrdinal(rawValue: ordinal))
    }
}
