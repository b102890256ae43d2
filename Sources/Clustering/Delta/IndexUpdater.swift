// SPDX-License-Identifier: MIT
import SystemSupport

/// Propagates changes of points through the levels of an index, from the deepest upwards.
///
/// At each level some nodes depart and others arrive; `GreedyPassUpdate` finds what that changes in the greedy
/// pass of the next zoom, and so which nodes depart from and arrive at the next level.
struct IndexUpdater<Scalar: Coordinate> {
    private(set) var layers: LayeredIndex
    private let spatial: SpatialIndex<Scalar>
    /// One cache per thread. Between passes the calling thread uses the first one.
    private let positionsOfThreads: [PointPositionCache<Scalar>]
    private let parallel: Parallel
    /// The number of nodes that may still be visited before a rebuild is cheaper.
    private var budget: Int

    init(
        layers: LayeredIndex, spatial: SpatialIndex<Scalar>, threads: Int, areOnDisk: Bool,
        coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        var layers = layers
        layers.delta.open(layers.options)
        self.layers = layers
        self.spatial = spatial
        parallel = Parallel(.shared, threads: threads, smallestShare: Self.smallestShare)
        let base = layers.base
        positionsOfThreads = (0..<parallel.threads).map { _ in
            PointPositionCache(base, spatial, areOnDisk: areOnDisk, coordinates)
        }
        budget = 100_000 + layers.delta.pointCount
    }

    /// Below this many nodes per share, another share costs more than it saves.
    private static var smallestShare: Int { 64 }

    private var positions: PointPositionCache<Scalar> { positionsOfThreads[0] }

    /// Applies the changes; returns whether they were applied completely. If not, the layers are unusable.
    mutating func run(_ changes: PointChanges) -> Bool {
        var (departed, arrived) = place(changes)
        apply(departed, arrived, at: layers.options.maximumZoom + 1)
        var zoom = layers.options.maximumZoom
        while zoom >= layers.options.minimumZoom, !(departed.isEmpty && arrived.isEmpty) {
            guard let outcome = outcome(departed, arrived, at: zoom) else { return false }
            arrived = outcome.arrived
            for key in arrived { layers.setParent(NodeNumber.none, of: key) }
            layers.remove(clusters: outcome.dying)
            arrived += make(outcome, zoom)
            departed = outcome.departed
            apply(departed, arrived, at: zoom)
            zoom -= 1
        }
        return true
    }

    /// Returns what departures and arrivals at a level change in the next; nil once the budget is spent.
    private mutating func outcome(
        _ departed: [Departure], _ arrived: [NodeKey], at zoom: Int
    ) -> LevelOutcome? {
        // Released before the layers change, because they would otherwise be copied.
        var level = GreedyPassUpdate(
            LevelReader(layers: layers, spatial: spatial, positions: positions), zoom: zoom,
            departed: departed,
            arrived: arrived, budget: budget, positions: positionsOfThreads, parallel: parallel)
        guard level.run() else { return nil }
        budget = level.budget
        return level.outcome()
    }

    /// Records the changes of the points themselves.
    private mutating func place(_ changes: PointChanges) -> ([Departure], [NodeKey]) {
        var departed: [Departure] = []
        var arrived: [NodeKey] = []
        for point in changes.removed.map(\.rawValue) + changes.moved.map(\.point.rawValue) {
            departed.append(layers.departure(NodeKey(rawValue: point), positions))
        }
        for point in changes.removed {
            if let place = layers.delta.placed[point.rawValue] {
                layers.delta.placements[Int(place)].isAlive = false
            }
            layers.delta.removedPoints.append(point.rawValue)
        }
        if !changes.removed.isEmpty { layers.delta.removedPoints.sort() }
        for (point, label) in changes.relabelled {
            guard let row = layers.delta.placed[point.rawValue] else { continue }
            layers.delta.placements[Int(row)].label = label
        }
        for placement in changes.moved + changes.added {
            let key = NodeKey(placement.point)
            let (x, y) = positions.compared(placement.longitude, placement.latitude)
            let row = layers.delta.placed[key.rawValue]
            let known = row.map { layers.delta.placements[Int($0)].label }
            if placement.label != nil { layers.delta.hasLabels = true }
            let placed = IndexDelta.PlacedPoint(
                x: x, y: y, weight: placement.weight,
                label: known ?? placement.label ?? OrderLabel(inOrder: placement.point),
                partition: placement.partition, isAlive: true)
            if let row {
                layers.delta.placements[Int(row)] = placed
            } else {
                layers.delta.placed.set(
                    key.rawValue, UInt32(truncatingIfNeeded: layers.delta.placements.count))
                layers.delta.placements.append(placed)
            }
            layers.setParent(NodeNumber.none, of: key)
            arrived.append(key)
        }
        layers.delta.pointLimit += changes.added.count
        layers.delta.pointCount += changes.added.count - changes.removed.count
        return (departed, arrived)
    }

    /// Applies departures and arrivals to a level.
    private mutating func apply(_ departed: [Departure], _ arrived: [NodeKey], at level: Int) {
        let place = level - layers.options.minimumZoom
        let bit: UInt32 = 1 << UInt32(level)
        for departure in departed
        where !layers.delta.levels[place].remove(departure.key, x: departure.x, y: departure.y) {
            layers.delta.tombstones.set(
                departure.key.rawValue, (layers.delta.tombstones[departure.key.rawValue] ?? 0) | bit)
        }
        for key in arrived {
            if layers.isInBase(key, at: level) {
                layers.delta.tombstones.set(key.rawValue, (layers.delta.tombstones[key.rawValue] ?? 0) & ~bit)
            } else {
                let (x, y) = layers.compared(key, positions)
                layers.delta.levels[place].insert(key, x: x, y: y)
            }
        }
    }

    /// Creates a zoom's planned clusters and returns their keys.
    private mutating func make(_ outcome: LevelOutcome, _ zoom: Int) -> [NodeKey] {
        let sums = ClusterSums(outcome, layers, positionsOfThreads, parallel)
        var made: [NodeKey] = []
        made.reserveCapacity(outcome.plans.count)
        for (plan, sum) in zip(outcome.plans, sums.all) {
            let ordinal = UInt32(truncatingIfNeeded: layers.clusterLimit)
            let start = layers.delta.children.count
            let members = outcome.members[plan.start..<plan.start + plan.count]
            let origin = members.first ?? NodeKey(rawValue: 0)
            for member in members {
                layers.delta.children.append(member)
                layers.setParent(ordinal, of: member)
            }
            layers.delta.clusters.append(
                IndexDelta.Cluster(
                    x: layers.options.center(sum.x, sum.weight), y: layers.options.center(sum.y, sum.weight),
                    weight: sum.weight,
                    partition: layers.partition(of: origin), count: sum.count,
                    origin: layers.origin(of: origin),
                    childStart: UInt32(truncatingIfNeeded: start),
                    childCount: UInt32(truncatingIfNeeded: members.count), parent: NodeNumber.none,
                    zoom: UInt8(truncatingIfNeeded: zoom), isAlive: true))
            made.append(NodeKey(ClusterOrdinal(rawValue: ordinal)))
        }
        layers.delta.clusterCount += made.count
        return made
    }
}
