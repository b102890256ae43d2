// SPDX-License-Identifier: MIT

/// Computes what `GreedyPassUpdate` does, by the same rule, over the nodes of a level in memory. These have the outcome
/// of the pass already, so each visited node is looked at together with its neighbours once.
struct LevelPass<Scalar: Coordinate>: ~Copyable {
    typealias Node = LevelNodes<Scalar>.Entry
    /// What arrives at the next level are the nodes that pass to it, then the clusters to be made.
    typealias Outcome = LevelOutcome<ShownNode, Node>

    private var nodes: LevelNodes<Scalar>
    private let former: LayeredIndex
    private let zoom: Int
    private let departed: [Node]
    private let radius: LevelRadius<Scalar>
    private var queue = OrderHeap()
    /// The nodes that were visited and the claims on them before.
    private var visits: [(index: Int, old: OrderLabel)] = []
    /// Nodes whose claims may have changed.
    private var touched: [Int] = []
    /// Working memory, retained between visits.
    private var near: [Int] = []
    /// The neighbours of the next places.
    private var nextNear = [[Int]](repeating: [], count: 4)

    /// - Parameters:
    ///   - nodes: those of the level below `zoom`, with all departures and arrivals.
    ///   - former: the index before the changes.
    init(_ nodes: consuming LevelNodes<Scalar>, _ former: LayeredIndex, zoom: Int) {
        departed = nodes.removed
        self.nodes = nodes
        (self.former, self.zoom) = (former, zoom)
        radius = LevelRadius(former.options.unitRadius(at: zoom))
    }

    /// Finds the new claims; returns the number of visits, nil if they are more than the budget.
    mutating func run(budget: Int) -> Int? {
        let removed = departed.filter { $0.cluster != NodeNumber.none }
        let places = removed.map(\.compared)
        for (number, departed) in removed.enumerated() {
            findNear(places, number)
            for index in near {
                if departed.claim == .unclaimed {
                    // What the departed node had claimed.
                    if nodes[index].claim == departed.order { enqueue(index) }
                } else if nodes[index].order == departed.claim {
                    touch(index)
                }
            }
        }
        for index in nodes.arrived { enqueue(index) }
        nodes.forgetChanges()
        let waiting = queue.takeAll()
        let waitingPlaces = waiting.map { nodes[Int($0.node)].compared }
        for (number, first) in waiting.enumerated() {
            while let index = queue.pop(before: first.order) { visitNext(Int(index)) }
            findNear(waitingPlaces, number)
            visit(Int(first.node))
            guard visits.count < budget else { return nil }
        }
        while let index = queue.pop() {
            guard visits.count < budget else { return nil }
            visitNext(Int(index))
        }
        return visits.count
    }

    /// Finds the nodes near one of several places, which are asked for in order. It searches around the next ones ahead
    /// and fetches memory for those after them, so that the waits for memory overlap.
    private mutating func findNear(_ places: [LevelNodes<Scalar>.Place], _ number: Int) {
        let ahead = nextNear.count - 1
        for next in (number == 0 ? 0 : number + ahead)...number + ahead where next < places.count {
            nodes.find(around: places[next].x, places[next].y, into: &nextNear[next % nextNear.count])
            for index in nextNear[next % nextNear.count] { nodes.fetch(at: index) }
        }
        for next in (number == 0 ? 0 : number + 2 * ahead)...number + 2 * ahead where next < places.count {
            nodes.fetch(places[next])
        }
        swap(&near, &nextNear[number % nextNear.count])
    }

    private mutating func enqueue(_ index: Int) {
        guard !nodes[index].notes.contains(.queued) else { return }
        note(.queued, index)
        queue.push(UInt32(truncatingIfNeeded: index), order: nodes[index].order)
    }

    private mutating func touch(_ index: Int) {
        guard !nodes[index].notes.contains(.touched) else { return }
        note(.touched, index)
        touched.append(index)
    }

    private mutating func note(_ notes: LevelNodeNotes, _ index: Int) {
        let entry = nodes[index]
        let hasPassed = entry.notes.isEmpty && entry.claim == .unclaimed && entry.cluster == NodeNumber.none
        nodes.note(hasPassed ? [notes, .passed] : notes, at: index)
    }

    /// Visits a node that was queued by an earlier one.
    private mutating func visitNext(_ index: Int) {
        let (x, y) = nodes[index].compared
        nodes.find(around: x, y, into: &near)
        visit(index)
    }

    /// Visits a node whose neighbours are `near`.
    private mutating func visit(_ index: Int) {
        let node = nodes[index]
        let (x, y) = node.compared
        var (first, claimant) = (node.order, -1)
        for other in near {
            let entry = nodes[other]
            guard entry.order < first, entry.claim == .unclaimed else { continue }
            let (dx, dy) = (x - entry.x, y - entry.y)
            guard dx * dx + dy * dy <= radius.squared, node.partition == entry.partition else { continue }
            (first, claimant) = (entry.order, other)
        }
        let (old, new) = (node.claim, claimant < 0 ? .unclaimed : first)
        visits.append((index, old))
        guard old != new else { return }
        nodes.setClaim(new, at: index)
        touch(claimant < 0 ? index : claimant)
        if new == .unclaimed {
            for other in near where nodes[other].order > node.order {
                let entry = nodes[other]
                // A node claimed by an earlier node stays claimed, unless that one changed, which queued the node.
                guard entry.claim >= node.order, !entry.notes.contains(.queued) else { continue }
                let (otherX, otherY) = entry.compared
                let (dx, dy) = (otherX - node.x, otherY - node.y)
                if dx * dx + dy * dy <= radius.squared, node.partition == entry.partition { enqueue(other) }
            }
        } else if old == .unclaimed {
            for other in near where nodes[other].claim == node.order { enqueue(other) }
        }
        guard old < .arrived else { return }
        for other in near where nodes[other].order == old { touch(other) }
    }

    /// The nodes that depart from the next level and arrive at it, and the clusters that disappear and form.
    ///
    /// - Parameter ordinal: that of the first cluster to be made.
    mutating func outcome(_ ordinal: Int) -> Outcome {
        var outcome = Outcome(departed: departed.filter { $0.cluster == NodeNumber.none }.map(\.shown))
        var dying = Set<UInt32>()
        func dies(_ cluster: UInt32) {
            guard cluster != NodeNumber.none, dying.insert(cluster).inserted else { return }
            outcome.dying.append(Int(cluster))
        }
        for node in departed { dies(node.cluster) }
        for (index, old) in visits {
            let entry = nodes[index]
            guard entry.claim != old else { continue }
            dies(entry.cluster)
            nodes.setCluster(NodeNumber.none, at: index)
            if entry.claim != .unclaimed, entry.notes.contains(.passed) {
                outcome.departed.append(entry.shown)
            }
        }
        // Ordinals follow the nodes' order, so that the same changes always give the same ordinals.
        touched.sort { nodes[$0].order < nodes[$1].order }
        for index in touched where nodes[index].claim == .unclaimed {
            dies(nodes[index].cluster)
        }
        let places = touched.map { nodes[$0].compared }
        var made: [Node] = []
        for (number, index) in touched.enumerated() {
            findNear(places, number)
            if nodes[index].claim == .unclaimed { plan(index, ordinal, &outcome, &made) }
        }
        outcome.arrived += made
        for cluster in outcome.dying { outcome.departed.append(former.shown(cluster: cluster, as: Scalar.self)) }
        for (index, _) in visits { nodes.forget(at: index) }
        for index in touched { nodes.forget(at: index) }
        return outcome
    }

    /// The nodes, with the new claims, once the outcome is known.
    consuming func finish() -> LevelNodes<Scalar> { nodes }

    /// Plans the cluster that grows from a claimant, or lets it pass. Its neighbours are `near`.
    private mutating func plan(_ index: Int, _ first: Int, _ outcome: inout Outcome, _ made: inout [Node]) {
        let origin = nodes[index]
        near.removeAll { nodes[$0].claim != origin.order }
        let passes = near.isEmpty
        if origin.notes.contains(.passed) != passes {
            if passes {
                outcome.arrived.append(origin.outsideClusters(claim: .arrived))
            } else {
                outcome.departed.append(origin.shown)
            }
        }
        guard !passes else { return nodes.setCluster(NodeNumber.none, at: index) }
        near.sort { nodes[$0].order < nodes[$1].order }
        near.insert(index, at: 0)
        let ordinal = UInt32(truncatingIfNeeded: first + outcome.plans.count)
        outcome.plans.append(ClusterPlan(start: outcome.members.count, count: near.count))
        var sum = ClusterSums.Sum()
        for member in near {
            let entry = nodes[member]
            sum.add(entry.x, entry.y, entry.weight, entry.count)
            outcome.members.append(entry.key)
            nodes.setCluster(ordinal, at: member)
        }
        // Only in an index that is lost. Its centre must still be a number.
        if !(sum.weight > 0) { sum.weight = 1 }
        outcome.sums.append(sum)
        made.append(
            Node(
                NodeKey(ClusterOrdinal(rawValue: ordinal)), x: former.options.center(sum.x, sum.weight),
                y: former.options.center(sum.y, sum.weight), order: origin.order, claim: .arrived, weight: sum.weight,
                count: sum.count, partition: origin.partition, levelsInBase: 0))
    }
}
