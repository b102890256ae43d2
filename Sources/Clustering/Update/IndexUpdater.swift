// SPDX-License-Identifier: MIT

/// Follows changes of points through the levels of an index, from the deepest upwards.
///
/// At each level some nodes depart and others arrive; `LevelUpdate` finds what that changes in the greedy
/// pass of the next zoom, and so which nodes depart from and arrive at the next level.
final class IndexUpdater<Scalar: Coordinate> {
    /// A node that a level no longer has, as it was: its key may come again at once with another place.
    struct Departure {
        let key: NodeKey
        /// Its parent then, or `NodeNumber.none`.
        let parent: UInt32
        let x: Double
        let y: Double
    }

    var state: OverlayState
    let spatial: SpatialIndex<Scalar>
    private let coordinates: (PointIndex) -> (longitude: Double, latitude: Double)
    private var positions: [UInt32: (x: Double, y: Double)] = [:]
    /// Nodes that may still be looked at before building anew is the cheaper way.
    private var budget: Int

    init(
        state: OverlayState, spatial: SpatialIndex<Scalar>,
        coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        self.state = state
        self.spatial = spatial
        self.coordinates = coordinates
        budget = 100_000 + state.pointCount
    }

    /// Whether the changes were followed to the end; else the state is of no use.
    func run(_ changes: PointChanges) -> Bool {
        var (departed, arrived) = place(changes)
        apply(departed, arrived, at: state.options.maximumZoom + 1)
        var zoom = state.options.maximumZoom
        while zoom >= state.options.minimumZoom, !(departed.isEmpty && arrived.isEmpty) {
            let level = LevelUpdate(updater: self, zoom: zoom, departed: departed, arrived: arrived)
            guard level.run() else { return false }
            (departed, arrived) = level.finish()
            apply(departed, arrived, at: zoom)
            zoom -= 1
        }
        return true
    }

    /// False once too much has been spent.
    @inline(__always) func spend(_ nodes: Int) -> Bool {
        budget -= nodes
        return budget > 0
    }

    /// Notes what the changes do to points themselves.
    private func place(_ changes: PointChanges) -> ([Departure], [NodeKey]) {
        var departed: [Departure] = []
        var arrived: [NodeKey] = []
        for point in changes.removed.map(\.rawValue) + changes.moved.map(\.point.rawValue) {
            departed.append(departure(NodeKey(rawValue: point)))
        }
        for point in changes.removed {
            if let place = state.placed[point.rawValue] { state.placements[Int(place)].isAlive = false }
            state.removedPoints.append(point.rawValue)
        }
        if !changes.removed.isEmpty { state.removedPoints.sort() }
        for placement in changes.moved + changes.added {
            let key = NodeKey(placement.point)
            positions[key.rawValue] = nil
            let (x, y) = Self.compared(placement.longitude, placement.latitude)
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

    func departure(_ key: NodeKey) -> Departure {
        let (x, y) = compared(key)
        return Departure(key: key, parent: state.parent(of: key), x: x, y: y)
    }

    /// Makes a level what it is after departures and arrivals.
    private func apply(_ departed: [Departure], _ arrived: [NodeKey], at level: Int) {
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
                let (x, y) = compared(key)
                state.levels[place].insert(key, x: x, y: y)
            }
        }
    }

    private static func compared(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double) {
        // As a build places points.
        let x = Scalar(max(0, min(1, Projection.x(longitude: longitude))))
        let y = Scalar(max(0, min(1, Projection.y(latitude: latitude))))
        return (Double(x), Double(y))
    }

    /// A node's place as others are compared with it.
    func compared(_ key: NodeKey) -> (x: Double, y: Double) {
        guard key.isCluster else { return position(ofPoint: key.rawValue) }
        let (x, y) = state.center(ofCluster: key.number)
        return (Double(Scalar(x)), Double(Scalar(y)))
    }

    /// A node's place as it claims others.
    @inline(__always) func exact(_ key: NodeKey) -> (x: Double, y: Double) {
        key.isCluster ? state.center(ofCluster: key.number) : position(ofPoint: key.rawValue)
    }

    private func position(ofPoint point: UInt32) -> (x: Double, y: Double) {
        if let place = state.placed[point] {
            let placed = state.placements[Int(place)]
            return (placed.x, placed.y)
        }
        if let known = positions[point] { return known }
        let (longitude, latitude) = coordinates(PointIndex(rawValue: point))
        let found = Self.compared(longitude, latitude)
        positions[point] = found
        return found
    }

    /// Calls `body` with the nodes inside a box at a level, in no order.
    @inline(__always) func visit(_ box: UnitBox, level: Int, _ body: (NodeKey, Double, Double) -> Void) {
        _ = spatial.visit(box, zoom: level) { slot in
            let key = state.key(ofBase: slot.node)
            if !state.isHidden(key, at: level) { body(key, Double(slot.x), Double(slot.y)) }
            return true
        }
        state.levels[level - state.options.minimumZoom].visit(box) { body($0.key, $0.x, $0.y) }
    }
}
