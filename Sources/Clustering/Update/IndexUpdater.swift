// SPDX-License-Identifier: MIT
import SystemSupport

/// Propagates changes of points through the levels of an index, from the deepest upwards.
///
/// At each level some nodes depart and others arrive; `GreedyPassUpdate` finds what that changes in the greedy
/// pass of the next zoom, and so which nodes depart from and arrive at the next level.
struct IndexUpdater<Scalar: Coordinate> {
    var layers: LayeredIndex
    /// The index before the changes.
    let former: LayeredIndex
    private let spatial: SpatialIndex<Scalar>
    /// One cache per thread. Between passes the calling thread uses the first one.
    private let positionsOfThreads: [PointPositionCache<Scalar>]
    let parallel: Parallel
    /// The lowest levels, in memory.
    let levels: UpdatedLevels<Scalar>
    /// The number of nodes that may still be visited before a rebuild is cheaper.
    var budget: Int

    init(
        layers: LayeredIndex, spatial: SpatialIndex<Scalar>, levels: UpdatedLevels<Scalar>, threads: Int,
        isOnDisk: @escaping (PointIndex) -> Bool,
        coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        var layers = layers
        former = layers
        layers.delta.open(layers.options)
        self.layers = layers
        self.spatial = spatial
        self.levels = levels
        parallel = Parallel(.shared, threads: threads, smallestShare: Self.smallestShare)
        let base = layers.base
        positionsOfThreads = (0..<parallel.threads).map { _ in
            PointPositionCache(base, spatial, isOnDisk: isOnDisk, coordinates)
        }
        budget = 100_000 + layers.delta.pointCount
    }

    /// How many nodes ahead memory is fetched, so that the waits for it overlap.
    static var fetchDistance: Int { 8 }
    /// Below this many nodes per share, another share costs more than it saves.
    static var smallestShare: Int { 64 }

    private var positions: PointPositionCache<Scalar> { positionsOfThreads[0] }

    /// Applies the changes; returns whether they were applied completely. If not, the layers are unusable.
    mutating func run(_ changes: PointChanges) -> Bool {
        var waiting = pass(record(changes))
        var changed = LevelChanges()
        for zoom in stride(from: layers.options.maximumZoom, through: levels.deepest, by: -1) {
            changed.add(waiting.removeLast())
            if changed.isEmpty { continue }
            guard let outcome = outcome(changed, at: zoom) else { return false }
            for key in outcome.arrived { layers.setParent(NodeNumber.none, of: key) }
            layers.remove(clusters: outcome.dying)
            changed = LevelChanges(departed: outcome.departed, arrived: outcome.arrived + make(outcome, zoom))
            apply(changed, at: zoom...zoom)
        }
        guard passLevels(changes.count) else { return false }
        levels.fill(layers, spatial)
        return true
    }

    /// Returns what departures and arrivals at a level change in the next; nil once the budget is spent.
    private mutating func outcome(_ changes: LevelChanges, at zoom: Int) -> GreedyPassUpdate<Scalar>.Outcome? {
        // Released before the layers change, because they would otherwise be copied.
        var level = GreedyPassUpdate(
            LevelReader(layers: layers, spatial: spatial, positions: positions), zoom: zoom,
            departed: changes.departed, arrived: changes.arrived, budget: budget, positions: positionsOfThreads,
            parallel: parallel)
        guard level.run() else { return nil }
        budget = level.budget
        levels.note(level.visits.count, zoom + 1)
        return level.outcome()
    }

    /// Records the changes of the points themselves.
    private mutating func record(_ changes: PointChanges) -> LevelChanges {
        var recorded = LevelChanges()
        for point in changes.removed.map(\.rawValue) + changes.moved.map(\.point.rawValue) {
            recorded.departed.append(layers.departure(NodeKey(rawValue: point), positions))
        }
        for point in changes.removed {
            if let row = layers.delta.placed[point.rawValue] {
                layers.delta.placements[Int(row)].isAlive = false
            }
            layers.delta.removedPoints.append(point.rawValue)
        }
        if !changes.removed.isEmpty { layers.delta.removedPoints.sort() }
        if !changes.relabelled.isEmpty { levels.empty() }
        for (point, label) in changes.relabelled {
            guard let row = layers.delta.placed[point.rawValue] else { continue }
            layers.delta.placements[Int(row)].label = label
        }
        for placement in changes.moved + changes.added {
            let key = NodeKey(placement.point)
            let (x, y) = positions.compared(placement.longitude, placement.latitude)
            let known = layers.delta.placement(of: key.rawValue)?.label
            if placement.label != nil { layers.delta.hasLabels = true }
            let placed = IndexDelta.PlacedPoint(
                x: x, y: y, weight: placement.weight,
                label: known ?? placement.label ?? OrderLabel(inOrder: placement.point),
                partition: placement.partition, isAlive: true)
            layers.delta.place(placed, of: key)
            layers.setParent(NodeNumber.none, of: key)
            recorded.arrived.append(key)
        }
        layers.delta.pointLimit += changes.added.count
        layers.delta.pointCount += changes.added.count - changes.removed.count
        return recorded
    }

    /// Applies departures and arrivals to levels.
    private mutating func apply(_ changes: LevelChanges, at levels: ClosedRange<Int>) {
        for level in levels {
            guard var nodes = self.levels.take(level) else { continue }
            // What passes a level is followed from the next one.
            apply(changes, to: &nodes, areFollowed: level == levels.lowerBound)
            self.levels.put(nodes, level)
        }
        layers.hide(
            changes.departed.map(\.node), show: changes.arrived.map { layers.shown($0, positions) }, at: levels)
    }

    /// Applies departures and arrivals to a level in memory.
    ///
    /// - Parameter areFollowed: whether the nodes are followed from there. Otherwise they pass unchanged.
    private func apply(_ changes: LevelChanges, to nodes: inout LevelNodes<Scalar>, areFollowed: Bool) {
        nodes.remove(changes.departed.map(\.node), areNoted: areFollowed)
        nodes.insert(
            changes.arrived.map {
                LevelNodes.Entry($0, claim: areFollowed ? .arrived : .unclaimed, in: layers, positions)
            })
    }

    /// Applies the changes of points to the levels that they pass unchanged.
    ///
    /// - Returns: the changes by level, from the lowest zoom: each at the level from which it has to be followed.
    private mutating func pass(_ changes: LevelChanges) -> [LevelChanges] {
        let (lowest, deepest) = (layers.options.minimumZoom, layers.options.maximumZoom + 1)
        let places =
            changes.departed.map { (point: $0.key.rawValue, x: $0.node.x, y: $0.node.y) }
            + changes.arrived.map { key in
                let (x, y) = layers.compared(key, positions)
                return (point: key.rawValue, x: x, y: y)
            }
        let lone = LonePoints(layers: layers, spatial: spatial)
        let shares = parallel.shares(of: places.count, perThread: 4)
        let levels = parallel.map(shares) { number, _ in
            let (start, end) = Parallel.bounds(number, of: shares, count: places.count)
            return places[start..<end].map { lone.level(of: $0.point, $0.x, $0.y) }
        }.joined()
        var passed = [LevelChanges](repeating: LevelChanges(), count: deepest - lowest + 1)
        for (place, level) in levels.enumerated() {
            if place < changes.departed.count {
                passed[level - lowest].departed.append(changes.departed[place])
            } else {
                passed[level - lowest].arrived.append(changes.arrived[place - changes.departed.count])
            }
        }
        for level in lowest...deepest { apply(passed[level - lowest], at: level...deepest) }
        return passed
    }

    /// Creates a zoom's planned clusters and returns their keys.
    @discardableResult
    mutating func make<Departed, Arrived>(_ outcome: LevelOutcome<Departed, Arrived>, _ zoom: Int) -> [NodeKey] {
        var made: [NodeKey] = []
        made.reserveCapacity(outcome.plans.count)
        for (plan, sum) in zip(outcome.plans, outcome.sums) {
            let ordinal = UInt32(truncatingIfNeeded: layers.clusterLimit)
            let start = layers.delta.children.count
            let members = outcome.members[plan.start..<plan.start + plan.count]
            let origin = members.first ?? NodeKey(rawValue: 0)
            for (number, member) in members.enumerated() {
                let next = plan.start + number + Self.fetchDistance
                if next < outcome.members.count { layers.fetchParent(of: outcome.members[next]) }
                layers.delta.children.append(member)
                layers.setParent(ordinal, of: member)
            }
            layers.delta.append(
                IndexDelta.Cluster(
                    x: layers.options.center(sum.x, sum.weight), y: layers.options.center(sum.y, sum.weight),
                    weight: sum.weight,
                    partition: layers.partition(of: origin), count: sum.count,
                    origin: layers.origin(of: origin),
                    childStart: UInt32(truncatingIfNeeded: start),
                    childCount: UInt32(truncatingIfNeeded: members.count), zoom: UInt8(truncatingIfNeeded: zoom)))
            made.append(NodeKey(ClusterOrdinal(rawValue: ordinal)))
        }
        layers.delta.clusterCount += made.count
        return made
    }
}

/// The sums over the members of planned clusters, computed as `ClusterFormer` does: in order, the origin first.
struct ClusterSums {
    struct Sum {
        var x = 0.0
        var y = 0.0
        var weight = 0.0
        var count: UInt32 = 0

        mutating func add(_ x: Double, _ y: Double, _ weight: Double, _ count: UInt32) {
            self.x += x * weight
            self.y += y * weight
            self.weight += weight
            self.count &+= count
        }
    }

    /// The sums, by plan.
    let all: [Sum]

    /// - Parameter positions: a cache of point positions for each thread.
    init<Scalar: Coordinate>(
        _ outcome: GreedyPassUpdate<Scalar>.Outcome, _ layers: LayeredIndex, _ positions: [PointPositionCache<Scalar>],
        _ parallel: Parallel
    ) {
        let plans = outcome.plans
        let count = parallel.shares(of: plans.count, perThread: 4)
        let parts = parallel.map(count) { number, thread in
            let (start, end) = Parallel.bounds(number, of: count, count: plans.count)
            return plans[start..<end].map { plan in
                Self.sum(outcome.members[plan.start..<plan.start + plan.count], layers, positions[thread])
            }
        }
        all = parts.count == 1 ? parts[0] : Array(parts.joined())
    }

    private static func sum<Scalar: Coordinate>(
        _ members: ArraySlice<NodeKey>, _ layers: LayeredIndex, _ positions: PointPositionCache<Scalar>
    ) -> Sum {
        var sum = Sum()
        for member in members {
            let (x, y) = layers.exact(member, positions)
            sum.add(x, y, layers.weight(of: member), layers.pointCount(of: member))
        }
        // Only in an index that is lost. Its centre must still be a number.
        if !(sum.weight > 0) { sum.weight = 1 }
        return sum
    }
}

/// Reads the nodes of an index's levels during an update. It must be released before the layers change, because
/// they would otherwise be copied.
///
/// A class, so that a search retains one object instead of each of the layers' parts.
final class LevelReader<Scalar: Coordinate> {
    let layers: LayeredIndex
    let spatial: SpatialIndex<Scalar>
    let positions: PointPositionCache<Scalar>

    init(layers: LayeredIndex, spatial: SpatialIndex<Scalar>, positions: PointPositionCache<Scalar>) {
        self.layers = layers
        self.spatial = spatial
        self.positions = positions
    }

    func departure(_ key: NodeKey) -> Departure { layers.departure(key, positions) }

    @inline(__always) func compared(_ key: NodeKey) -> (x: Double, y: Double) {
        layers.compared(key, positions)
    }

    @inline(__always) func exact(_ key: NodeKey) -> (x: Double, y: Double) { layers.exact(key, positions) }

    /// Calls `body` with the nodes at a level within a distance of a position, in no particular order.
    ///
    /// - Parameters:
    ///   - reach: the distance along each axis.
    ///   - squared: the square of the distance.
    @inline(__always) func visit(
        around x: Double, _ y: Double, reach: Double, squared: Double, level: Int,
        _ body: (NodeKey, Double, Double) -> Void
    ) {
        let box = UnitBox(around: x, y, reach: reach)
        // Nodes in the box's corners are left out first, because the rest is read from memory far apart.
        @inline(__always) func isNear(_ otherX: Double, _ otherY: Double) -> Bool {
            let (dx, dy) = (otherX - x, otherY - y)
            return dx * dx + dy * dy <= squared
        }
        spatial.visitTogether(box, zoom: level) { slot in
            let (slotX, slotY) = (Double(slot.x), Double(slot.y))
            guard isNear(slotX, slotY) else { return }
            let key = layers.key(ofBase: slot.node)
            if !layers.delta.hides(key, at: level) { body(key, slotX, slotY) }
        }
        layers.delta.levels[level - layers.options.minimumZoom].visit(box) {
            if isNear($0.x, $0.y) { body($0.key, $0.x, $0.y) }
        }
    }
}

extension LayeredIndex {
    /// A node's position for comparisons with other nodes: rounded to the index's number type.
    @inline(__always) func compared<Scalar>(
        _ key: NodeKey, _ positions: PointPositionCache<Scalar>
    ) -> (x: Double, y: Double) {
        guard key.isCluster else { return position(ofPoint: key.rawValue, positions) }
        let (x, y) = center(ofCluster: key.number)
        return (Double(Scalar(x)), Double(Scalar(y)))
    }

    /// A node's position as a claimant: for a cluster the exact centre.
    @inline(__always) func exact<Scalar>(
        _ key: NodeKey, _ positions: PointPositionCache<Scalar>
    ) -> (x: Double, y: Double) {
        key.isCluster ? center(ofCluster: key.number) : position(ofPoint: key.rawValue, positions)
    }

    /// A cluster where it is now.
    func shown<Scalar: Coordinate>(cluster ordinal: Int, as scalar: Scalar.Type) -> ShownNode {
        let key = NodeKey(ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: ordinal)))
        let (x, y) = center(ofCluster: ordinal)
        return ShownNode(key: key, x: Double(Scalar(x)), y: Double(Scalar(y)), levelsInBase: levelsInBase(key))
    }

    /// A node where it is now.
    func shown<Scalar>(_ key: NodeKey, _ positions: PointPositionCache<Scalar>) -> ShownNode {
        let (x, y) = compared(key, positions)
        return ShownNode(key: key, x: x, y: y, levelsInBase: levelsInBase(key))
    }

    func departure<Scalar>(_ key: NodeKey, _ positions: PointPositionCache<Scalar>) -> Departure {
        Departure(node: shown(key, positions), parent: parent(of: key))
    }

    private func position<Scalar>(
        ofPoint point: UInt32, _ positions: PointPositionCache<Scalar>
    ) -> (x: Double, y: Double) {
        guard let placement = delta.placement(of: point) else { return positions[point] }
        return (placement.x, placement.y)
    }
}
