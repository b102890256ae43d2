// SPDX-License-Identifier: MIT

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

    func departure<Scalar>(_ key: NodeKey, _ positions: PointPositionCache<Scalar>) -> Departure {
        let (x, y) = compared(key, positions)
        return Departure(key: key, parent: parent(of: key), x: x, y: y)
    }

    private func position<Scalar>(
        ofPoint point: UInt32, _ positions: PointPositionCache<Scalar>
    ) -> (x: Double, y: Double) {
        guard let placement = delta.placement(of: point) else { return positions[point] }
        return (placement.x, placement.y)
    }
}
