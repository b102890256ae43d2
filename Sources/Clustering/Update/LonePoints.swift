// SPDX-License-Identifier: MIT

/// Finds how far changed points pass unchanged because no others lie near, so that they are followed from there on only.
struct LonePoints<Scalar: Coordinate> {
    let layers: LayeredIndex
    let spatial: SpatialIndex<Scalar>
    private let distances: LoneDistances

    init(layers: LayeredIndex, spatial: SpatialIndex<Scalar>) {
        self.layers = layers
        self.spatial = spatial
        distances = LoneDistances(layers.options, pointCount: layers.base.pointCount)
    }

    /// More points around one are not looked at: others are as near, so it is not alone.
    private static var mostLooks: Int { 24 }

    /// The lowest level to which a changed point passes unchanged.
    ///
    /// Removed points count as well: those of the base, and the former positions of those that updates placed. Some of
    /// them existed before these changes.
    func level(of point: UInt32, _ x: Double, _ y: Double) -> Int {
        let deepest = layers.options.maximumZoom + 1
        let reach = distances.longest
        guard reach > 0 else { return deepest }
        let box = UnitBox(around: x, y, reach: reach)
        var (nearest, looks) = (Double.infinity, 0)
        func look(_ other: UInt32, _ otherX: Double, _ otherY: Double) -> Bool {
            looks += 1
            guard looks <= Self.mostLooks else { return false }
            if other == point { return true }
            let (dx, dy) = (otherX - x, otherY - y)
            nearest = min(nearest, dx * dx + dy * dy)
            return true
        }
        guard spatial.visit(box, zoom: deepest, { look($0.node, Double($0.x), Double($0.y)) }),
            layers.delta.places.visitCells(box, { look($0.key.rawValue, $0.x, $0.y) })
        else { return deepest }
        return distances.level(squared: nearest)
    }
}
