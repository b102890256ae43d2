// SPDX-License-Identifier: MIT
import SystemSupport

/// Derives the changes of the next level from the new claims.
extension GreedyPassUpdate {
    /// A set of nodes' keys or clusters' ordinals, in the order of insertion.
    private struct Numbers {
        private var known: NumberMap
        private(set) var all: [UInt32] = []

        /// - Parameter capacity: how many elements fit before it grows.
        init(capacity: Int) { known = NumberMap(capacity: capacity) }

        mutating func insert(_ number: UInt32) {
            guard known[number] == nil else { return }
            known.set(number, 0)
            all.append(number)
        }

        func contains(_ number: UInt32) -> Bool { known[number] != nil }
    }

    /// The nodes that depart from the next level and arrive at it, and the clusters that disappear and form.
    func outcome() -> Outcome {
        var outcome = Outcome(departed: departed.filter { !isMade($0.parent) })
        let dying = plan(&outcome)
        outcome.dying = dying.all.map { Int($0) }
        var inPlans = NumberMap(capacity: outcome.members.count)
        for member in outcome.members { inPlans.set(member.rawValue, 0) }
        func pass(_ key: NodeKey, passedBefore: Bool, _ cluster: UInt32?, isUnclaimed: Bool) {
            let keepsCluster = cluster.map { !dying.contains($0) } ?? false
            let passesNow = isUnclaimed && !keepsCluster && inPlans[key.rawValue] == nil
            if passedBefore && !passesNow { outcome.departed.append(search.level.departure(key)) }
            if passesNow && !passedBefore { outcome.arrived.append(key) }
        }
        for visit in visits {
            pass(
                visit.key, passedBefore: visit.old != nil && visit.cluster == nil, visit.cluster,
                isUnclaimed: visit.new == .unclaimed)
        }
        for number in affected(outcome).all {
            let key = NodeKey(rawValue: number)
            let (claim, cluster) = search.former(key)
            pass(key, passedBefore: claim != nil && cluster == nil, cluster, isUnclaimed: claim == .unclaimed)
        }
        for cluster in dying.all {
            outcome.departed.append(search.level.departure(NodeKey(ClusterOrdinal(rawValue: cluster))))
        }
        outcome.sums = ClusterSums(outcome, layers, positionsOfThreads, parallel).all
        return outcome
    }

    /// Nodes that were not visited but may be passed to the next level otherwise than before.
    private func affected(_ outcome: Outcome) -> Numbers {
        var keys = Numbers(capacity: outcome.plans.count)
        func insert(_ key: NodeKey) {
            if visit(of: key) == nil { keys.insert(key.rawValue) }
        }
        for plan in outcome.plans { insert(outcome.members[plan.start]) }
        for cluster in outcome.dying {
            for position in 0..<layers.childCount(ofCluster: cluster) {
                let child = layers.child(position, ofCluster: cluster)
                if isOld(child) { insert(child) }
            }
        }
        return keys
    }

    /// Plans the clusters to be made, in order, and returns those that no longer exist.
    private func plan(_ outcome: inout Outcome) -> Numbers {
        let joined = ClaimedNodes(self)
        var dying = Numbers(capacity: departed.count)
        var origins = touched(&dying).filter { isUnclaimed(NodeKey(rawValue: $0)) }
        // Ordinals follow the nodes' order, so that the same changes always give the same ordinals.
        sort(&origins)
        let count = parallel.shares(of: origins.count, perThread: 4)
        let parts = parallel.map(count) { number, _ in
            let (start, end) = Parallel.bounds(number, of: count, count: origins.count)
            return part(of: origins[start..<end], joined)
        }
        for part in parts {
            let start = outcome.members.count
            outcome.plans += part.plans.map { ClusterPlan(start: start + $0.start, count: $0.count) }
            outcome.members += part.members
            for cluster in part.dying { dying.insert(cluster) }
        }
        return dying
    }

    /// The result for one share of the origins.
    private struct Part {
        var plans: [ClusterPlan] = []
        var members: [NodeKey] = []
        var dying: [UInt32] = []
    }

    private func part(of origins: ArraySlice<UInt32>, _ joined: ClaimedNodes) -> Part {
        var part = Part()
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
                part.dying.append(UInt32(truncatingIfNeeded: cluster))
            }
            guard !members.isEmpty else { continue }
            part.plans.append(ClusterPlan(start: part.members.count, count: members.count + 1))
            part.members.append(origin)
            for member in members { part.members.append(NodeKey(rawValue: member)) }
        }
        return part
    }

    /// Sorts nodes by the level's order.
    private func sort(_ nodes: inout [UInt32]) {
        guard nodes.count > 1 else { return }
        var ranked = nodes.map { (order: layers.order(of: NodeKey(rawValue: $0)), node: $0) }
        ranked.sort { $0.order < $1.order }
        for index in nodes.indices { nodes[index] = ranked[index].node }
    }

    /// Claimants whose claims may have changed. Clusters that certainly no longer exist are added to `dying`.
    private func touched(_ dying: inout Numbers) -> [UInt32] {
        var touched = Numbers(capacity: visits.count)
        func touch(_ cluster: UInt32, _ dying: inout Numbers) {
            let origin = layers.child(0, ofCluster: Int(cluster))
            if isOld(origin), isUnclaimed(origin) {
                touched.insert(origin.rawValue)
            } else {
                dying.insert(cluster)
            }
        }
        for departure in departed where isMade(departure.parent) { touch(departure.parent, &dying) }
        for visit in visits where visit.old != visit.new {
            if let cluster = visit.cluster { touch(cluster, &dying) }
            switch visit.new {
            case .unclaimed: touched.insert(visit.key.rawValue)
            case .claimed(let claimant): touched.insert(claimant.rawValue)
            }
        }
        return touched.all
    }

    /// The cluster that formerly grew from a node at this zoom.
    private func formerCluster(of origin: NodeKey) -> Int? {
        let former = visit(of: origin).map { ($0.old, $0.cluster) } ?? search.former(origin)
        return former.0 == .unclaimed ? former.1.map { Int($0) } : nil
    }

    /// Appends the nodes that a cluster's origin had claimed and that were not visited.
    private func appendKept(of cluster: Int, to members: inout [UInt32]) {
        for position in 1..<max(1, layers.childCount(ofCluster: cluster)) {
            let child = layers.child(position, ofCluster: cluster)
            if isOld(child), visit(of: child) == nil { members.append(child.rawValue) }
        }
    }

    private func isSame(_ cluster: Int, _ members: [UInt32]) -> Bool {
        guard layers.childCount(ofCluster: cluster) == members.count + 1 else { return false }
        return members.indices.allSatisfy { index in
            let member = NodeKey(rawValue: members[index])
            return isOld(member) && layers.child(index + 1, ofCluster: cluster) == member
        }
    }
}

/// The changes that a level's new claims cause in the next level.
struct LevelOutcome<Departed: Sendable, Arrived: Sendable>: Sendable {
    /// The nodes that depart from the next level.
    var departed: [Departed]
    /// The nodes that arrive at the next level.
    var arrived: [Arrived] = []
    /// Clusters that no longer exist.
    var dying: [Int] = []
    /// The clusters to be made, in the order of the nodes from which they grow.
    var plans: [ClusterPlan] = []
    var members: [NodeKey] = []
    /// The sums over the members, by plan.
    var sums: [ClusterSums.Sum] = []
}

/// A cluster to be made.
struct ClusterPlan: Sendable {
    /// The index in the outcome's `members` at which its children start; the first is the node from which it grows.
    let start: Int
    let count: Int
}

/// The outcome of a pass for one node.
enum LevelClaim: Equatable, BitwiseCopyable {
    case unclaimed
    case claimed(NodeKey)
}
