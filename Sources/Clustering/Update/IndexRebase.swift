// SPDX-License-Identifier: MIT
import SystemSupport

/// Makes the changes that lead from one index to another in a third one, which has the clusters of the first under other
/// numbers: that of a build of the same points.
///
/// Nothing is searched or clustered. A cluster is known by the point from which it grew and by its zoom; one whose
/// members change dies and another one is made, so all that differs is found from the changed points upwards.
struct IndexRebase<Scalar: Coordinate> {
    /// A node of the target that is hidden at levels or shown at them: a bit each.
    struct Change: Sendable {
        let node: ShownNode
        let isShown: Bool
        let levels: UInt32
    }

    /// A node that is shown at a level in memory as before, but may be in another cluster there.
    struct Regrouped: Sendable {
        let node: ShownNode
        let level: UInt8
        var cluster = NodeNumber.none
        var order = OrderLabel.unclaimed
    }

    /// Before the changes.
    let old: LayeredIndex
    /// After them: on the same base, and numbered alike.
    let new: LayeredIndex
    var target: LayeredIndex
    /// One cache per thread.
    let positionsOfThreads: [PointPositionCache<Scalar>]
    let parallel: Parallel
    /// The target's levels in memory, if there are any.
    let levels: UpdatedLevels<Scalar>?
    /// Which these are: a bit each.
    let notedLevels: UInt32
    /// What changes at the target's levels, in order. They are changed at last, as it waits for memory.
    var changes: [Change] = []
    var regrouped: [Regrouped] = []
    /// Points that were removed, added or moved.
    private var changed: NumberMap

    /// A node of `old`, and the same one in the target.
    typealias Pair = (key: NodeKey, there: NodeKey)
    /// Clusters of `old` that `new` lacks.
    var dead: [Pair] = []
    private var isDead = NumberMap()

    /// A node that may have another parent than before.
    struct Kept {
        let node: Pair
        /// The first zoom at which it was shown.
        let before: Int
        /// That at which it is shown now.
        var after: Int
        var hasParent = false
    }

    var kept: [Kept] = []
    /// The index in `kept`, by key.
    private var keptIndexes = NumberMap()

    /// A child of a cluster that was made since `old`.
    struct Claim {
        let child: NodeKey
        /// Its index in `kept`; -1 if it was not in `old`, or is another node than there.
        var kept: Int32 = -1
    }

    /// Of all clusters made since `old` that still exist: by cluster.
    var claims: [Claim] = []
    /// By ordinal of such a cluster, that in the target.
    var ordinals = NumberMap()

    /// - Parameters:
    ///   - changed: each point once.
    ///   - positions: those that points have in `old`: a cache for each thread.
    ///   - levels: the target's.
    init(
        from old: LayeredIndex, to new: LayeredIndex, onto target: LayeredIndex, changed: [PointIndex],
        positions: [PointPositionCache<Scalar>], levels: UpdatedLevels<Scalar>?
    ) {
        parallel = Parallel(.shared, threads: positions.count, smallestShare: 256)
        (self.old, self.new, self.target, positionsOfThreads) = (old, new, target, positions)
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
        move(points)
        changeKept()
        makeClusters()
        target.delta.pointLimit = new.delta.pointLimit
        target.delta.pointCount += new.delta.pointCount - old.delta.pointCount
        for (number, change) in changes.enumerated() {
            if number + Self.fetchDistance < changes.count {
                let next = changes[number + Self.fetchDistance]
                if next.levels != 0 { target.fetch(next.node, at: next.levels.trailingZeroBitCount) }
            }
            if change.isShown {
                target.show(change.node, at: change.levels)
            } else {
                target.hide(change.node, at: change.levels)
            }
        }
        changeLevels()
        return true
    }

    // MARK: What differs

    /// The clusters made since `old` that still exist.
    var made: [Int] { (old.clusterLimit..<new.clusterLimit).filter { new.isAlive(cluster: $0) } }

    /// How many nodes ahead memory is fetched, so that the waits for it overlap.
    static var fetchDistance: Int { 8 }

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
        for (number, point) in points.enumerated() {
            if number + Self.fetchDistance < points.count {
                let next = NodeKey(rawValue: points[number + Self.fetchDistance])
                old.fetch(next)
                target.fetchParent(of: next)
            }
            guard old.isAlive(point: Int(point)) else { continue }
            let key = NodeKey(rawValue: point)
            guard noteDeadParent(of: (key, key)) else { return false }
        }
        guard findDeadAncestors(from: 0) else { return false }
        let known = dead.count
        for cluster in made {
            for position in 0..<new.childCount(ofCluster: cluster) {
                claims.append(Claim(child: new.child(position, ofCluster: cluster)))
            }
        }
        for (number, claim) in claims.enumerated() {
            if number + Self.fetchDistance < claims.count {
                old.fetchParent(of: claims[number + Self.fetchDistance].child)
            }
            guard isOld(claim.child), !isKnown(old.parent(of: claim.child)) else { continue }
            guard let there = there(claim.child), noteDeadParent(of: (claim.child, there)) else { return false }
        }
        return findDeadAncestors(from: known)
    }

    private mutating func findDeadAncestors(from start: Int) -> Bool {
        var next = start
        while next < dead.count {
            if next + Self.fetchDistance < dead.count {
                old.fetch(dead[next + Self.fetchDistance].key)
                target.fetch(dead[next + Self.fetchDistance].there)
            }
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
        for (number, (key, there)) in dead.enumerated() {
            if number + Self.fetchDistance < dead.count {
                let next = dead[number + Self.fetchDistance]
                old.fetchChildren(ofCluster: next.key.number)
                target.fetchChildren(ofCluster: next.there.number)
            }
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
}

extension ClusterIndex {
    /// The changes that lead from an earlier index to this one, made in another index with the earlier one's points: one
    /// that was built of them, so that it has no delta, or few changes. The answers are this index's; ids of clusters that
    /// the changes did not touch are the other's.
    ///
    /// - Parameters:
    ///   - start: from which this index was made by updates.
    ///   - changed: the points that these removed, added or moved, each once.
    ///   - threads: how many threads may work at once; the result does not depend on it.
    ///   - isOnDisk: whether `coordinates` would have to read a point's from a disk. Called on any of the threads.
    ///   - coordinates: those that a point had in `start` if no update had placed it. Called on any of the threads.
    /// - Returns: nil if the indexes do not fit together, or if points were put between others.
    /// - Complexity: O(the changed points and the clusters that contain them, on each level), without any search.
    public func rebased(
        from start: ClusterIndex, onto target: ClusterIndex, changed: [PointIndex], threads: Int = 1,
        isOnDisk: @escaping @Sendable (PointIndex) -> Bool,
        coordinates: @Sendable (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        guard start.layers.base === layers.base, start.pointLimit == target.pointLimit,
            start.pointCount == target.pointCount, start.clusterCount == target.clusterCount,
            !layers.delta.hasLabels, !target.layers.delta.hasLabels
        else { return nil }
        let rebased: (LayeredIndex, levels: (any KeptLevels)?)? =
            switch target.layers.base.spatial {
            case .float(let spatial):
                withoutActuallyEscaping(coordinates) { run(start, target, changed, spatial, threads, isOnDisk, $0) }
            case .double(let spatial):
                withoutActuallyEscaping(coordinates) { run(start, target, changed, spatial, threads, isOnDisk, $0) }
            }
        guard let (rebased, levels) = rebased, rebased.delta.clusterCount == clusterCount else { return nil }
        let made =
            UInt32(truncatingIfNeeded: target.layers.clusterLimit)..<UInt32(truncatingIfNeeded: rebased.clusterLimit)
        return IndexUpdate(index: ClusterIndex(rebased, lineage: target.lineage, levels: levels), made: made)
    }

    private func run<Scalar: Coordinate>(
        _ start: ClusterIndex, _ target: ClusterIndex, _ changed: [PointIndex], _ spatial: SpatialIndex<Scalar>,
        _ threads: Int, _ isOnDisk: @escaping (PointIndex) -> Bool,
        _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> (LayeredIndex, levels: (any KeptLevels)?)? {
        let levels = target.takeLevels() as? UpdatedLevels<Scalar>
        let positions = (0..<max(1, threads)).map { _ in
            PointPositionCache(target.layers.base, spatial, isOnDisk: isOnDisk, coordinates)
        }
        var rebase = IndexRebase(
            from: start.layers, to: layers, onto: target.layers, changed: changed, positions: positions,
            levels: levels)
        return rebase.run() ? (rebase.target, levels) : nil
    }
}
