// SPDX-License-Identifier: MIT
import SystemSupport

/// Changes the target.
extension IndexRebase {
    mutating func removeDead() {
        changes += hiddenDead()
        target.remove(clusters: dead.map(\.there.number))
    }

    private func hiddenDead() -> [Change] {
        inShares(of: dead) { number, thread in
            if number + Self.fetchDistance < dead.count { target.fetch(dead[number + Self.fetchDistance].there) }
            let node = shown(dead[number].there, thread: thread)
            return Change(node: node, isShown: false, levels: old.shownLevels(dead[number].key))
        }
    }

    /// What `body` makes of the elements of an array, by several threads if there are many.
    private func inShares<Element, Result: Sendable>(
        of elements: [Element], _ body: (_ number: Int, _ thread: Int) -> Result
    ) -> [Result] {
        let shares = parallel.shares(of: elements.count, perThread: 4)
        let parts = parallel.map(shares) { share, thread in
            let (start, end) = Parallel.bounds(share, of: shares, count: elements.count)
            return (start..<end).map { body($0, thread) }
        }
        return parts.count == 1 ? parts[0] : Array(parts.joined())
    }

    /// Shows the nodes of both indexes where they are shown now.
    mutating func changeKept() {
        // Others become children of clusters that are made.
        for node in kept where !node.hasParent { target.setParent(NodeNumber.none, of: node.node.there) }
        for move in moves() {
            guard let move else { continue }
            if move.hidden != 0 { hide(move.node, at: move.hidden) }
            if move.shown != 0 { show(move.node, at: move.shown) }
            // A pass put it in a cluster at the first level only.
            var levels = move.regrouped
            while levels != 0 {
                regrouped.append(Regrouped(node: move.node, level: UInt8(levels.trailingZeroBitCount)))
                levels &= levels - 1
            }
        }
    }

    private func moves() -> [Move?] {
        inShares(of: kept) { number, thread in
            if number + Self.fetchDistance < kept.count { target.fetch(kept[number + Self.fetchDistance].node.there) }
            return move(of: kept[number], thread)
        }
    }

    /// At which levels a node of both indexes is hidden, shown, and in another cluster than before: a bit each.
    private struct Move: Sendable {
        let node: ShownNode
        let hidden: UInt32
        let shown: UInt32
        let regrouped: UInt32
    }

    /// Nil if nothing changes.
    private func move(of kept: Kept, _ thread: Int) -> Move? {
        let (key, there) = kept.node
        let edges: UInt32 = 1 << UInt32(kept.before) | 1 << UInt32(kept.after)
        guard kept.before != kept.after || edges & notedLevels != 0 else { return nil }
        let deepest = target.options.maximumZoom + 1
        let last = key.isCluster ? min(deepest, old.zoom(ofCluster: key.number)) : deepest
        let (before, after) = (LayeredIndex.levels(kept.before, last), LayeredIndex.levels(kept.after, last))
        return Move(
            node: shown(there, thread: thread), hidden: before & ~after, shown: after & ~before,
            regrouped: before & after & edges & notedLevels)
    }

    /// Removes, places or moves points.
    mutating func move(_ points: [UInt32]) {
        for (number, point) in points.enumerated() {
            if number + Self.fetchDistance < points.count {
                let next = NodeKey(rawValue: points[number + Self.fetchDistance])
                new.fetch(next)
                target.fetch(next)
            }
            move(point)
        }
        target.delta.removedPoints.sort()
    }

    private mutating func move(_ point: UInt32) {
        let key = NodeKey(rawValue: point)
        let (wasAlive, isAlive) = (old.isAlive(point: Int(point)), new.isAlive(point: Int(point)))
        if wasAlive {
            hide(shown(key), at: old.shownLevels(key))
            target.setParent(NodeNumber.none, of: key)
        }
        guard isAlive, let placement = new.delta.placement(of: point) else {
            if wasAlive || Int(point) >= old.delta.pointLimit { target.delta.removedPoints.append(point) }
            if let row = target.delta.placed[point] { target.delta.placements[Int(row)].isAlive = false }
            return
        }
        target.delta.place(placement, of: key)
        show(shown(key), at: new.shownLevels(key))
    }

    /// Makes the clusters that `new` has and `old` had not, in their order, so that children come before parents.
    mutating func makeClusters() {
        var next = 0
        for cluster in made {
            let ordinal = UInt32(truncatingIfNeeded: target.clusterLimit)
            ordinals.set(UInt32(truncatingIfNeeded: cluster), ordinal)
            var copy = new.delta.clusters[cluster - new.base.clusterCount]
            copy.childStart = UInt32(truncatingIfNeeded: target.delta.children.count)
            for _ in 0..<new.childCount(ofCluster: cluster) {
                // Those that are made here are in the processor's caches.
                if next + Self.fetchDistance < claims.count, claims[next + Self.fetchDistance].kept >= 0 {
                    target.fetchParent(of: there(claims[next + Self.fetchDistance]))
                }
                let child = there(claims[next])
                target.delta.children.append(child)
                target.setParent(ordinal, of: child)
                next += 1
            }
            target.delta.append(copy)
            target.delta.clusterCount += 1
            show(shown(Self.key(ofCluster: Int(ordinal))), at: new.shownLevels(Self.key(ofCluster: cluster)))
        }
    }

    static func key(ofCluster ordinal: Int) -> NodeKey {
        NodeKey(ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: ordinal)))
    }

    /// A child of a cluster that is made, in the target.
    private func there(_ claim: Claim) -> NodeKey {
        if claim.kept >= 0 { return kept[Int(claim.kept)].node.there }
        guard claim.child.isCluster else { return claim.child }
        return ordinals[UInt32(truncatingIfNeeded: claim.child.number)].map { Self.key(ofCluster: Int($0)) }
            ?? claim.child
    }

    /// A node of the target where it is now.
    ///
    /// - Parameter thread: which runs.
    private func shown(_ key: NodeKey, thread: Int = 0) -> ShownNode {
        guard !key.isCluster, target.delta.placed[key.rawValue] == nil,
            let placement = old.delta.placement(of: key.rawValue)
        else { return target.shown(key, positionsOfThreads[thread]) }
        return ShownNode(key: key, x: placement.x, y: placement.y, levelsInBase: target.levelsInBase(key))
    }

    private mutating func hide(_ node: ShownNode, at levels: UInt32) {
        changes.append(Change(node: node, isShown: false, levels: levels))
    }

    private mutating func show(_ node: ShownNode, at levels: UInt32) {
        changes.append(Change(node: node, isShown: true, levels: levels))
    }

    /// Makes the changes in the levels in memory, once the target has them.
    func changeLevels() {
        guard let levels else { return }
        let changes = changes.filter { $0.levels & notedLevels != 0 }
        let (hidden, shown) = (changes.filter { !$0.isShown }, changes.filter(\.isShown))
        let arriving = arriving(shown.map(\.node))
        let regrouped = withClusters(regrouped)
        let filled = levels.filled
        parallel.run(filled.count) { number, _ in
            // The deepest level has most of the nodes.
            let level = filled[filled.count - 1 - number]
            guard var nodes = levels.take(level) else { return }
            let bit: UInt32 = 1 << UInt32(level)
            nodes.remove(hidden.filter { $0.levels & bit != 0 }.map(\.node), areNoted: false)
            let here = regrouped.filter { $0.level == level }
            nodes.set(here.map { ($0.cluster, $0.order) }, of: here.map(\.node))
            nodes.insert(zip(shown, arriving).filter { $0.0.levels & bit != 0 }.map { $0.1.entry(at: level) })
            levels.put(nodes, level)
        }
    }

    private func withClusters(_ regrouped: [Regrouped]) -> [Regrouped] {
        inShares(of: regrouped) { number, _ in
            if number + Self.fetchDistance < regrouped.count {
                target.fetchParent(of: regrouped[number + Self.fetchDistance].node.key)
            }
            var node = regrouped[number]
            let parent = target.parent(of: node.node.key)
            guard parent != NodeNumber.none, target.zoom(ofCluster: Int(parent)) == Int(node.level) - 1 else {
                return node
            }
            (node.cluster, node.order) = (parent, target.order(of: Self.key(ofCluster: Int(parent))))
            return node
        }
    }

    /// What the levels in memory need to know of a node of the target.
    private struct Arriving: Sendable {
        /// As it is at the level where a pass put it in a cluster, if one did.
        let entry: LevelNodes<Scalar>.Entry
        /// The zoom of that pass; -1 if none did.
        let zoom: Int

        func entry(at level: Int) -> LevelNodes<Scalar>.Entry {
            level == zoom + 1 ? entry : entry.outsideClusters(claim: .unclaimed)
        }
    }

    private func arriving(_ nodes: [ShownNode]) -> [Arriving] {
        inShares(of: nodes) { number, _ in
            if number + Self.fetchDistance < nodes.count { target.fetch(nodes[number + Self.fetchDistance].key) }
            let node = nodes[number]
            let parent = target.parent(of: node.key)
            let zoom = parent == NodeNumber.none ? -1 : target.zoom(ofCluster: Int(parent))
            let entry = LevelNodes<Scalar>.Entry(node.key, at: (node.x, node.y), level: zoom + 1, in: target)
            return Arriving(entry: entry, zoom: zoom)
        }
    }
}
