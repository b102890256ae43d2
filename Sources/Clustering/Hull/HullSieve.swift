// SPDX-License-Identifier: MIT

/// Finds the points that are certainly inside the hull of a set, from their positions in a spatial index.
///
/// The outermost points in each of a number of columns of the unit square form a polygon, whose corners' exact
/// positions are looked up. What is inside the polygon is inside the hull.
struct HullSieve<Scalar: Coordinate> {
    /// Below this many points, all exact positions are looked up instead.
    static var worthwhile: Int { 8192 }
    /// At least one in this many of the visited nodes must be one of the points.
    static var worthwhilePart: Int { 64 }
    private static var columns: Int { 256 }
    /// Nodes between two checks for cancellation.
    private static var piece: Int { 1 << 16 }

    private let spatial: SpatialIndex<Scalar>
    private let projection: Projection
    /// One bit per point: at first whether it is one of the set's points, later whether it is certainly inside.
    private var marks: [UInt64]
    private var admitted = 0

    init(_ spatial: SpatialIndex<Scalar>, _ projection: Projection) {
        self.spatial = spatial
        self.projection = projection
        marks = Array(repeating: 0, count: (spatial.layout.pointCount + 63) / 64)
    }

    @inline(__always) mutating func admit(_ point: PointIndex) {
        marks[Int(point.rawValue) >> 6] |= 1 << UInt64(point.rawValue & 63)
        admitted += 1
    }

    @inline(__always) func isInside(_ point: PointIndex) -> Bool {
        let word = Int(point.rawValue) >> 6
        return word < marks.count && marks[word] & (1 << UInt64(point.rawValue & 63)) != 0
    }

    /// Marks the points inside; returns false if cancelled.
    mutating func run(_ isCancelled: () -> Bool, _ position: (PointIndex) -> Position) -> Bool {
        guard let slots = gather(isCancelled) else { return false }
        for word in marks.indices { marks[word] = 0 }
        let outermost = outermost(of: slots).map { position(PointIndex(rawValue: $0)) }
        guard case .polygon(let ring)? = ConvexHull.hull(of: outermost),
            let interior = HullInterior(ring, projection)
        else { return !isCancelled() }
        for (place, slot) in slots.enumerated() {
            if place % Self.piece == 0, isCancelled() { return false }
            if interior.holds(Double(slot.x), Double(slot.y)) {
                marks[Int(slot.node) >> 6] |= 1 << UInt64(slot.node & 63)
            }
        }
        return true
    }

    /// The points' slots, in the curve's order.
    private func gather(_ isCancelled: () -> Bool) -> [SpatialSlot<Scalar>]? {
        var slots: [SpatialSlot<Scalar>] = []
        slots.reserveCapacity(admitted)
        for place in 0..<spatial.layout.nodeCount {
            if place % Self.piece == 0, isCancelled() { return nil }
            let slot = spatial.slots[place]
            if isInside(PointIndex(rawValue: slot.node)) { slots.append(slot) }
        }
        return slots
    }

    /// The northernmost and southernmost points of columns of equal width.
    private func outermost(of slots: [SpatialSlot<Scalar>]) -> [UInt32] {
        guard let first = slots.first else { return [] }
        var (west, east) = (first.x, first.x)
        for slot in slots { (west, east) = (min(west, slot.x), max(east, slot.x)) }
        guard east > west else { return [] }
        let scale = Scalar(Self.columns) / (east - west)
        guard scale.isFinite else { return [] }
        // For each column, the greatest and the least `y` so far, and the point that has it.
        var souths = [Scalar](repeating: -1, count: Self.columns + 1)
        var norths = [Scalar](repeating: 2, count: Self.columns + 1)
        var southernmost = [UInt32](repeating: 0, count: Self.columns + 1)
        var northernmost = southernmost
        for slot in slots {
            let column = Int((slot.x - west) * scale)
            guard column >= 0, column <= Self.columns else { continue }
            if slot.y > souths[column] { (souths[column], southernmost[column]) = (slot.y, slot.node) }
            if slot.y < norths[column] { (norths[column], northernmost[column]) = (slot.y, slot.node) }
        }
        return souths.indices.filter { souths[$0] >= 0 }.flatMap { [southernmost[$0], northernmost[$0]] }
    }
}
