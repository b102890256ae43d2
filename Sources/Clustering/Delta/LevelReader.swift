// SPDX-License-Identifier: MIT

/// Reads the nodes of an index's levels during an update. It must be released before the layers change, because
/// they would otherwise be copied.
struct LevelReader<Scalar: Coordinate> {
    let layers: LayeredIndex
    let spatial: SpatialIndex<Scalar>
    let positions: PointPositionCache<Scalar>

    func departure(_ key: NodeKey) -> Departure { layers.departure(key, positions) }

    @inline(__always) func compared(_ key: NodeKey) -> (x: Double, y: Double) {
        layers.compared(key, positions)
    }

    @inline(__always) func exact(_ key: NodeKey) -> (x: Double, y: Double) { layers.exact(key, positions) }

    /// Calls `body` with the nodes inside a box at a level, in no particular order.
    @inline(__always) func visit(_ box: UnitBox, level: Int, _ body: (NodeKey, Double, Double) -> Void) {
        spatial.visitTogether(box, zoom: level) { slot in
            let key = layers.key(ofBase: slot.node)
            if !layers.delta.hides(key, at: level) { body(key, Double(slot.x), Double(slot.y)) }
        }
        layers.delta.levels[level - layers.options.minimumZoom].visit(box) { body($0.key, $0.x, $0.y) }
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
