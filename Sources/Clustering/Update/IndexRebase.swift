// SPDX-License-Identifier: MIT

/// Makes the changes that lead from one index to another in a third one, which has the clusters of the first under other
/// numbers: that of a build of the same points.
///
/// Nothing is searched or clustered. A cluster is known by the point from which it grew and by its zoom; one whose
/// members change dies and another one is made, so all that differs is found from the changed points upwards.
struct IndexRebase<Scalar: Coordinate> {
    /// At which levels, a bit each, a node of the target is no longer as it was, and at which it is now.
    private struct LevelChange {
        let key: NodeKey
        let place: (x: Double, y: Double)
        let levels: UInt32
        let isShown: Bool
    }

    /// Before the changes.
    private let old: LayeredIndex
    /// After them: on the same base, and numbered alike.
    private let new: LayeredIndex
    private(set) var target: LayeredIndex
    private let positions: PointPositionCache<Scalar>
    /// The target's levels in memory, if there are any.
    private let levels: UpdatedLevels<Scalar>?
    /// Which these are: a bit each.
    private let notedLevels: UInt32
    /// What changes in these.
    private var levelChanges: [LevelChange] = []
    /// Points that were removed, added or moved.
    private var changed: NumberMap

    /// A node of `old`, and the same one in the target.
    private typealias Pair = (key: NodeKey, there: NodeKey)
    /// Clusters of `old` that `new` lacks.
    private var dead: [Pair] = []
    private var isDead = NumberMap()

    /// A node that may have another parent than before.
    private struct Kept {
        let node: Pair
        /// The first zoom at which it was shown.
        let before: Int
        /// That at which it is shown now.
        var after: Int
        var hasParent = false
    }

    private var kept: [Kept] = []
    /// The index in `kept`, by key.
    private var keptIndexes = NumberMap()

    /// A child of a cluster that was made since `old`.
    private struct Claim {
        let child: NodeKey
        /// Its index in `kept`; -1 if it was not in `old`, or is another node than there.
        var kept: Int32 = -1
    }

    /// Of all clusters made since `old` that still exist: by cluster.
    private var claims: [Claim] = []
    /// By ordinal of such a cluster, that in the target.
    private var ordinals = NumberMap()

    /// - Parameters:
    ///   - changed: each point once.
    ///   - positions: those that points have in `old`.
    ///   - levels: the target's.
    init(
        from old: LayeredIndex, to new: LayeredIndex, onto target: LayeredIndex, changed: [PointIndex],
        positions: PointPositionCache<Scalar>, levels: UpdatedLevels<Scalar>?
    ) {
        (self.old, self.new, self.target, self.positions) = (old, new, target, positions)
        self.levels = levels
        notedLevels = (levels?.filled ?? []).reduce(0) { $0 | 1 << UInt32($1) }
        self.target.delta.open(target.options)
        self.changed = NumberMap(capacity: changed.count)
        for point in changed { self.changed.set(point.rawValue, 0) }
    }

    /// Returns whether the changes were made; if not, the target is unusable: it does not have the clusters of the first.
    mutating func run() -> Bool {
        let points = changed.entries.map(\.key).sorted()
        guard findDead(points), findKept() else { return false }
        removeDead()
        for point in points { move(point) }
        target.delta.removedPoints.sort()
        for node in kept { change(node) }
        makeClusters()
        target.delta.pointLimit = new.delta.pointLimit
        target.delta.pointCount += new.delta.pointCount - old.delta.pointCount
        changeLevels()
        return true
    }

    // MARK: What differs

    /// The clusters made since `old` that still exist.
    private var made: [Int] { (old.clusterLimit..<new.clusterLimit).filter { new.isAlive(cluster: $0) } }

    /// Whether a node was in `old`, and no change of a point made it another one.
    private func isOld(_ key: NodeKey) -> Bool {
        key.isCluster
            ? key.number < old.clusterLimit : key.number < old.delta.pointLimit && changed[key.rawValue] == nil
    }

    /// Finds the clusters that die because a member changes, dies, or goes to another cluster.
    ///
    /// Both trees have the same nodes, so a node's parent in one is its parent in the other.
    ///
    /// - Returns: false if they have not.
    private mutating func findDead(_ points: [UInt32]) -> Bool {
        for point in points where old.isAlive(point: Int(point)) {
            let key = NodeKey(rawValue: point)
            guard noteDeadParent(of: (key, key)) else { return false }
        }
        guard findDeadAncestors(from: 0) else { return false }
        let known = dead.count
        for cluster in made {
            for position in 0..<new.childCount(ofCluster: cluster) {
                let child = new.child(position, ofCluster: cluster)
                claims.append(Claim(child: child))
                guard isOld(child), !isKnown(old.parent(of: child)) else { continue }
                guard let there = there(child), noteDeadParent(of: (child, there)) else { return false }
            }
        }
        return findDeadAncestors(from: known)
    }

    private mutating func findDeadAncestors(from start: Int) -> Bool {
        var next = start
        while next < dead.count {
            guard noteDeadParent(of: dead[next]) else { return false }
            next += 1
        }
        return true
    }

    /// Whether a parent is known to die, or is none.
    private func isKnown(_ parent: UInt32) -> Bool { parent == NodeNumber.none || isDead[parent] != nil }

    private mutating func noteDeadParent(of node: Pair) -> Bool {
        let parent = old.parent(of: node.key)
        guard !isKnown(parent) else { return true }
        let there = target.parent(of: node.there)
        guard there != NodeNumber.none else { return false }
        isDead.set(parent, 0)
        dead.append((Self.key(ofCluster: Int(parent)), Self.key(ofCluster: Int(there))))
        return true
    }

    /// - Returns: false if the trees differ.
    private mutating func findKept() -> Bool {
        let lowest = target.options.minimumZoom
        for (key, there) in dead {
            let count = old.childCount(ofCluster: key.number)
            guard target.childCount(ofCluster: there.number) == count else { return false }
            let first = max(lowest, old.zoom(ofCluster: key.number) + 1)
            // Both have them in the same order.
            for position in 0..<count {
                let child = old.child(position, ofCluster: key.number)
                guard isKept(child) else { continue }
                note(kept: (child, target.child(position, ofCluster: there.number)), before: first)
            }
        }
        var next = 0
        for cluster in made {
            let first = max(lowest, new.zoom(ofCluster: cluster) + 1)
            for _ in 0..<new.childCount(ofCluster: cluster) {
                let child = claims[next].child
                if isOld(child) {
                    // What has died is no child any more, unless pages were lost.
                    guard isKept(child) else { return false }
                    if keptIndexes[child.rawValue] == nil {
                        guard let there = there(child) else { return false }
                        note(kept: (child, there), before: lowest)
                    }
                    let index = Int(keptIndexes[child.rawValue] ?? 0)
                    kept[index].after = first
                    kept[index].hasParent = true
                    claims[next].kept = Int32(truncatingIfNeeded: index)
                }
                next += 1
            }
        }
        return true
    }

    /// Whether a node of either index is in both.
    private func isKept(_ child: NodeKey) -> Bool {
        isOld(child) && !(child.isCluster && isDead[UInt32(truncatingIfNeeded: child.number)] != nil)
    }

    private mutating func note(kept node: Pair, before: Int) {
        keptIndexes.set(node.key.rawValue, UInt32(truncatingIfNeeded: kept.count))
        kept.append(Kept(node: node, before: before, after: target.options.minimumZoom))
    }

    /// A node of `old` in the target. O(zooms).
    private func there(_ key: NodeKey) -> NodeKey? {
        guard key.isCluster else { return key }
        return target.cluster(from: old.origin(ofCluster: key.number), zoom: old.zoom(ofCluster: key.number))
            .map { NodeKey($0) }
    }

    // MARK: Changes of the target

    private mutating func removeDead() {
        for node in dead {
            let (levels, position) = (old.shownLevels(node.key), place(node.there))
            hide(node.there, at: levels, position)
            note(node.there, position, at: levels, isShown: false)
        }
        target.remove(clusters: dead.map(\.there.number))
    }

    /// Shows a node of both indexes where it is shown now.
    private mutating func change(_ kept: Kept) {
        let (key, there) = kept.node
        // Others become children of clusters that are made.
        if !kept.hasParent { target.setParent(NodeNumber.none, of: there) }
        let edges: UInt32 = 1 << UInt32(kept.before) | 1 << UInt32(kept.after)
        guard kept.before != kept.after || edges & notedLevels != 0 else { return }
        let deepest = target.options.maximumZoom + 1
        let last = key.isCluster ? min(deepest, old.zoom(ofCluster: key.number)) : deepest
        let (before, after) = (LayeredIndex.levels(kept.before, last), LayeredIndex.levels(kept.after, last))
        // At the first zoom its entry says which node claimed it there.
        let (removed, added) = (before & (edges | ~after) & notedLevels, after & (edges | ~before) & notedLevels)
        guard before != after || removed | added != 0 else { return }
        let position = place(there)
        hide(there, at: before & ~after, position)
        show(there, at: after & ~before, position)
        note(there, position, at: removed, isShown: false)
        note(there, position, at: added, isShown: true)
    }

    /// Removes, places or moves a point.
    private mutating func move(_ point: UInt32) {
        let key = NodeKey(rawValue: point)
        let (wasAlive, isAlive) = (old.isAlive(point: Int(point)), new.isAlive(point: Int(point)))
        if wasAlive {
            let (levels, position) = (old.shownLevels(key), place(key))
            hide(key, at: levels, position)
            note(key, position, at: levels, isShown: false)
            target.setParent(NodeNumber.none, of: key)
        }
        guard isAlive, let placement = new.delta.placement(of: point) else {
            if wasAlive || Int(point) >= old.delta.pointLimit { target.delta.removedPoints.append(point) }
            if let row = target.delta.placed[point] { target.delta.placements[Int(row)].isAlive = false }
            return
        }
        target.delta.place(placement, of: key)
        let (levels, position) = (new.shownLevels(key), (placement.x, placement.y))
        show(key, at: levels, position)
        note(key, position, at: levels, isShown: true)
    }

    /// Makes the clusters that `new` has and `old` had not, in their order, so that children come before parents.
    private mutating func makeClusters() {
        var next = 0
        for cluster in made {
            let ordinal = UInt32(truncatingIfNeeded: target.clusterLimit)
            ordinals.set(UInt32(truncatingIfNeeded: cluster), ordinal)
            var copy = new.delta.clusters[cluster - new.base.clusterCount]
            copy.childStart = UInt32(truncatingIfNeeded: target.delta.children.count)
            for _ in 0..<new.childCount(ofCluster: cluster) {
                let child = there(claims[next])
                target.delta.children.append(child)
                target.setParent(ordinal, of: child)
                next += 1
            }
            target.delta.append(copy)
            target.delta.clusterCount += 1
            let (key, there) = (Self.key(ofCluster: cluster), Self.key(ofCluster: Int(ordinal)))
            let (levels, position) = (new.shownLevels(key), place(there))
            show(there, at: levels, position)
            note(there, position, at: levels, isShown: true)
        }
    }

    private static func key(ofCluster ordinal: Int) -> NodeKey {
        NodeKey(ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: ordinal)))
    }

    /// A child of a cluster that is made, in the target.
    private func there(_ claim: Claim) -> NodeKey {
        if claim.kept >= 0 { return kept[Int(claim.kept)].node.there }
        guard claim.child.isCluster else { return claim.child }
        return ordinals[UInt32(truncatingIfNeeded: claim.child.number)].map { Self.key(ofCluster: Int($0)) }
            ?? claim.child
    }

    /// A node's position in the target, as compared.
    private func place(_ key: NodeKey) -> (x: Double, y: Double) {
        guard !key.isCluster, target.delta.placed[key.rawValue] == nil,
            let placement = old.delta.placement(of: key.rawValue)
        else { return target.compared(key, positions) }
        return (placement.x, placement.y)
    }

    private mutating func hide(_ key: NodeKey, at levels: UInt32, _ position: (x: Double, y: Double)) {
        guard levels != 0 else { return }
        let inBase = target.levelsInBase(key) & levels
        target.delta.setHidden(true, key, at: inBase)
        forEachLevel(levels & ~inBase) { target, level in
            _ = target.delta.levels[level].remove(key, x: position.x, y: position.y)
        }
    }

    private mutating func show(_ key: NodeKey, at levels: UInt32, _ position: (x: Double, y: Double)) {
        guard levels != 0 else { return }
        let inBase = target.levelsInBase(key) & levels
        target.delta.setHidden(false, key, at: inBase)
        forEachLevel(levels & ~inBase) { target, level in
            target.delta.levels[level].insert(key, x: position.x, y: position.y)
        }
    }

    private mutating func note(_ key: NodeKey, _ place: (x: Double, y: Double), at levels: UInt32, isShown: Bool) {
        let levels = levels & notedLevels
        guard levels != 0 else { return }
        levelChanges.append(LevelChange(key: key, place: place, levels: levels, isShown: isShown))
    }

    /// Makes the changes in the levels in memory, once the target has them.
    private func changeLevels() {
        guard let levels else { return }
        for level in levels.filled {
            guard var nodes = levels.take(level) else { continue }
            let changes = levelChanges.filter { $0.levels & 1 << UInt32(level) != 0 }
            let (removed, added) = (changes.filter { !$0.isShown }, changes.filter(\.isShown))
            for (number, change) in removed.enumerated() {
                if number + Self.fetchDistance < removed.count {
                    nodes.fetchCell(removed[number + Self.fetchDistance].place)
                }
                nodes.remove(change.key, x: change.place.x, y: change.place.y, isNoted: false)
            }
            for (number, change) in added.enumerated() {
                if number + Self.fetchDistance < added.count {
                    let next = added[number + Self.fetchDistance]
                    nodes.fetchCell(next.place)
                    target.fetchParent(of: next.key)
                }
                nodes.insert(LevelNodes.Entry(change.key, at: change.place, level: level, in: target))
            }
            levels.put(nodes, level)
        }
    }

    private static var fetchDistance: Int { 8 }

    private mutating func forEachLevel(_ levels: UInt32, _ body: (inout LayeredIndex, Int) -> Void) {
        var rest = levels
        while rest != 0 {
            body(&target, rest.trailingZeroBitCount - target.options.minimumZoom)
            rest &= rest - 1
        }
    }
}

extension ClusterIndex {
    /// The changes that lead from an earlier index to this one, made in another index with the earlier one's points: one
    /// that was built of them, so that it has no delta, or few changes. The answers are this index's; ids of clusters that
    /// the changes did not touch are the other's.
    ///
    /// - Parameters:
    ///   - start: from which this index was made by updates.
    ///   - changed: the points that these removed, added or moved, each once.
    ///   - isOnDisk: whether `coordinates` would have to read a point's from a disk.
    ///   - coordinates: those that a point had in `start` if no update had placed it.
    /// - Returns: nil if the indexes do not fit together, or if points were put between others.
    /// - Complexity: O(the changed points and the clusters that contain them, on each level), without any search.
    public func rebased(
        from start: ClusterIndex, onto target: ClusterIndex, changed: [PointIndex],
        isOnDisk: @escaping (PointIndex) -> Bool,
        coordinates: (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        guard start.layers.base === layers.base, start.pointLimit == target.pointLimit,
            start.pointCount == target.pointCount, start.clusterCount == target.clusterCount,
            !layers.delta.hasLabels, !target.layers.delta.hasLabels
        else { return nil }
        let rebased: (LayeredIndex, levels: (any KeptLevels)?)? =
            switch target.layers.base.spatial {
            case .float(let spatial):
                withoutActuallyEscaping(coordinates) { run(start, target, changed, spatial, isOnDisk, $0) }
            case .double(let spatial):
                withoutActuallyEscaping(coordinates) { run(start, target, changed, spatial, isOnDisk, $0) }
            }
        guard let (rebased, levels) = rebased, rebased.delta.clusterCount == clusterCount else { return nil }
        let made =
            UInt32(truncatingIfNeeded: target.layers.clusterLimit)..<UInt32(truncatingIfNeeded: rebased.clusterLimit)
        return IndexUpdate(index: ClusterIndex(rebased, lineage: target.lineage, levels: levels), made: made)
    }

    private func run<Scalar: Coordinate>(
        _ start: ClusterIndex, _ target: ClusterIndex, _ changed: [PointIndex], _ spatial: SpatialIndex<Scalar>,
        _ isOnDisk: @escaping (PointIndex) -> Bool,
        _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> (LayeredIndex, levels: (any KeptLevels)?)? {
        let levels = target.takeLevels() as? UpdatedLevels<Scalar>
        let positions = PointPositionCache(target.layers.base, spatial, isOnDisk: isOnDisk, coordinates)
        var rebase = IndexRebase(
            from: start.layers, to: layers, onto: target.layers, changed: changed, positions: positions,
            levels: levels)
        return rebase.run() ? (rebase.target, levels) : nil
    }
}
