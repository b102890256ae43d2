// SPDX-License-Identifier: MIT

/// Follows changes of points through the levels of an index, from the deepest upwards.
///
/// At each level some nodes depart and others arrive; `LevelUpdate` finds what that changes in the greedy
/// pass of the next zoom, and so which nodes depart from and arrive at the next level.
struct IndexUpdater<Scalar: Coordinate> {
    private(set) var state: OverlayState
    private let spatial: SpatialIndex<Scalar>
    private let places: PointPlaces<Scalar>
    /// For shares of work on several threads: more than there are threads, since one may be kept from working.
    private let placesOfShares: [PointPlaces<Scalar>]
    /// Nodes that may still be looked at before building anew is the cheaper way.
    private var budget: Int

    init(
        state: OverlayState, spatial: SpatialIndex<Scalar>, threads: Int,
        coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        self.state = state
        self.spatial = spatial
        places = PointPlaces(coordinates)
        placesOfShares = (0..<(threads > 1 ? 4 * threads : 1)).map { _ in PointPlaces(coordinates) }
        budget = 100_000 + state.pointCount
    }

    /// Whether the changes were followed to the end; else the state is of no use.
    mutating func run(_ changes: PointChanges) -> Bool {
        var (departed, arrived) = place(changes)
        apply(departed, arrived, at: state.options.maximumZoom + 1)
        var zoom = state.options.maximumZoom
        while zoom >= state.options.minimumZoom, !(departed.isEmpty && arrived.isEmpty) {
            guard let outcome = outcome(departed, arrived, at: zoom) else { return false }
            arrived = outcome.arrived
            for key in arrived { state.setParent(NodeNumber.none, of: key) }
            state.remove(outcome.dying)
            arrived += make(outcome, zoom)
            departed = outcome.departed
            apply(departed, arrived, at: zoom)
            zoom -= 1
        }
        return true
    }

    /// What departures from a level, and arrivals, make of the next; nil once too much has been spent.
    private mutating func outcome(
        _ departed: [Departure], _ arrived: [NodeKey], at zoom: Int
    ) -> LevelOutcome? {
        // Gone before the state is changed, which would be copied otherwise.
        var level = LevelUpdate(
            LevelView(state: state, spatial: spatial, places: places), zoom: zoom, departed: departed,
            arrived: arrived, budget: budget, places: placesOfShares)
        guard level.run() else { return nil }
        budget = level.budget
        return level.outcome()
    }

    /// Notes what the changes do to points themselves.
    private mutating func place(_ changes: PointChanges) -> ([Departure], [NodeKey]) {
        var departed: [Departure] = []
        var arrived: [NodeKey] = []
        for point in changes.removed.map(\.rawValue) + changes.moved.map(\.point.rawValue) {
            departed.append(state.departure(NodeKey(rawValue: point), places))
        }
        for point in changes.removed {
            if let place = state.placed[point.rawValue] { state.placements[Int(place)].isAlive = false }
            state.removedPoints.append(point.rawValue)
        }
        if !changes.removed.isEmpty { state.removedPoints.sort() }
        for placement in changes.moved + changes.added {
            let key = NodeKey(placement.point)
            let (x, y) = PointPlaces<Scalar>.compared(placement.longitude, placement.latitude)
            let placed = OverlayState.PlacedPoint(
                x: x, y: y, weight: placement.weight, partition: placement.partition, isAlive: true)
            if let place = state.placed[key.rawValue] {
                state.placements[Int(place)] = placed
            } else {
                state.placed.set(key.rawValue, UInt32(truncatingIfNeeded: state.placements.count))
                state.placements.append(placed)
            }
            state.setParent(NodeNumber.none, of: key)
            arrived.append(key)
        }
        state.pointLimit += changes.added.count
        state.pointCount += changes.added.count - changes.removed.count
        return (departed, arrived)
    }

    /// Makes a level what it is after departures and arrivals.
    private mutating func apply(_ departed: [Departure], _ arrived: [NodeKey], at level: Int) {
        let place = level - state.options.minimumZoom
        let bit: UInt32 = 1 << UInt32(level)
        for departure in departed
        where !state.levels[place].remove(departure.key, x: departure.x, y: departure.y) {
            state.hidden.set(departure.key.rawValue, (state.hidden[departure.key.rawValue] ?? 0) | bit)
        }
        for key in arrived {
            if state.isInBase(key, at: level) {
                state.hidden.set(key.rawValue, (state.hidden[key.rawValue] ?? 0) & ~bit)
            } else {
                let (x, y) = state.compared(key, places)
                state.levels[place].insert(key, x: x, y: y)
            }
        }
    }

    /// Makes clusters of a zoom, and tells their keys.
    private mutating func make(_ outcome: LevelOutcome, _ zoom: Int) -> [NodeKey] {
        let sums = ClusterSums(outcome, state, placesOfShares)
        var made: [NodeKey] = []
        made.reserveCapacity(outcome.plans.count)
        for (plan, sum) in zip(outcome.plans, sums.all) {
            let ordinal = UInt32(truncatingIfNeeded: state.baseClusterCount + state.clusters.count)
            let start = state.children.count
            let members = outcome.members[plan.start..<plan.start + plan.count]
            let origin = members.first ?? NodeKey(rawValue: 0)
            for member in members {
                state.children.append(member)
                state.setParent(ordinal, of: member)
            }
            state.clusters.append(
                OverlayState.Cluster(
                    x: sum.x / sum.weight, y: sum.y / sum.weight, weight: sum.weight,
                    partition: state.partition(of: origin), count: sum.count, order: state.order(of: origin),
                    childStart: UInt32(truncatingIfNeeded: start),
                    childCount: UInt32(truncatingIfNeeded: members.count), parent: NodeNumber.none,
                    zoom: UInt8(truncatingIfNeeded: zoom), isAlive: true))
            made.append(NodeKey(ClusterOrdinal(rawValue: ordinal)))
        }
        state.clusterCount += made.count
        return made
    }
}
