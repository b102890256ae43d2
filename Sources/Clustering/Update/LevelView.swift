// SPDX-License-Identifier: MIT

/// A node that a level no longer has, as it was: its key may come again at once with another place.
struct Departure {
    let key: NodeKey
    /// Its parent then, or `NodeNumber.none`.
    let parent: UInt32
    let x: Double
    let y: Double
}

/// The levels as they are while one of them is looked at. Not to be kept while the state is changed, which
/// would copy it.
struct LevelView<Scalar: Coordinate> {
    let state: OverlayState
    let spatial: SpatialIndex<Scalar>
    let places: PointPlaces<Scalar>

    func departure(_ key: NodeKey) -> Departure { state.departure(key, places) }

    @inline(__always) func compared(_ key: NodeKey) -> (x: Double, y: Double) {
        state.compared(key, places)
    }

    @inline(__always) func exact(_ key: NodeKey) -> (x: Double, y: Double) { state.exact(key, places) }

    /// Calls `body` with the nodes inside a box at a level, in no order.
    @inline(__always) func visit(_ box: UnitBox, level: Int, _ body: (NodeKey, Double, Double) -> Void) {
        spatial.visitTogether(box, zoom: level) { slot in
            let key = state.key(ofBase: slot.node)
            if !state.isHidden(key, at: level) { body(key, Double(slot.x), Double(slot.y)) }
        }
        state.levels[level - state.options.minimumZoom].visit(box) { body($0.key, $0.x, $0.y) }
    }
}

extension OverlayState {
    /// A node's place as others are compared with it.
    @inline(__always) func compared<Scalar>(
        _ key: NodeKey, _ places: PointPlaces<Scalar>
    ) -> (x: Double, y: Double) {
        guard key.isCluster else { return place(ofPoint: key.rawValue, places) }
        let (x, y) = center(ofCluster: key.number)
        return (Double(Scalar(x)), Double(Scalar(y)))
    }

    /// A node's place as it claims others.
    @inline(__always) func exact<Scalar>(
        _ key: NodeKey, _ places: PointPlaces<Scalar>
    ) -> (x: Double, y: Double) {
        key.isCluster ? center(ofCluster: key.number) : place(ofPoint: key.rawValue, places)
    }

    func departure<Scalar>(_ key: NodeKey, _ places: PointPlaces<Scalar>) -> Departure {
        let (x, y) = compared(key, places)
        return Departure(key: key, parent: parent(of: key), x: x, y: y)
    }

    private func place<Scalar>(
        ofPoint point: UInt32, _ places: PointPlaces<Scalar>
    ) -> (x: Double, y: Double) {
        guard let place = placed[point] else { return places[point] }
        let placed = placements[Int(place)]
        return (placed.x, placed.y)
    }
}

/// Places of points that updates have not placed, worked out once.
final class PointPlaces<Scalar: Coordinate> {
    private let coordinates: (PointIndex) -> (longitude: Double, latitude: Double)
    private var known = NumberMap()
    private var places: [(x: Double, y: Double)] = []

    init(_ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)) {
        self.coordinates = coordinates
    }

    subscript(point: UInt32) -> (x: Double, y: Double) {
        if let place = known[point] { return places[Int(place)] }
        let (longitude, latitude) = coordinates(PointIndex(rawValue: point))
        let place = Self.compared(longitude, latitude)
        known.set(point, UInt32(truncatingIfNeeded: places.count))
        places.append(place)
        return place
    }

    /// A place as builds compare it.
    static func compared(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double) {
        let x = Scalar(max(0, min(1, Projection.x(longitude: longitude))))
        let y = Scalar(max(0, min(1, Projection.y(latitude: latitude))))
        return (Double(x), Double(y))
    }
}
