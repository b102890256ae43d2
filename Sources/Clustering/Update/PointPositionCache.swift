// SPDX-License-Identifier: MIT

/// Positions of points that updates have not placed.
///
/// The index has them, but not by point. If its coordinates lie on a disk, a point is looked for near the centre of its
/// cluster, and its neighbours, which are likely to be asked for next, are remembered. Only if it is not found there
/// are its coordinates read. From memory, reading them takes less time.
final class PointPositionCache<Scalar: Coordinate> {
    private let base: BaseIndex
    private let spatial: SpatialIndex<Scalar>
    private let coordinates: (PointIndex) -> (longitude: Double, latitude: Double)
    private let isOnDisk: (PointIndex) -> Bool
    private var known = NumberMap()
    private var positions: [(x: Double, y: Double)] = []

    /// - Parameters:
    ///   - spatial: that of the base.
    ///   - isOnDisk: whether `coordinates` may have to read a point's from a disk.
    ///   - coordinates: returns the coordinates of a point of the base.
    init(
        _ base: BaseIndex, _ spatial: SpatialIndex<Scalar>, isOnDisk: @escaping (PointIndex) -> Bool,
        _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        self.base = base
        self.spatial = spatial
        self.isOnDisk = isOnDisk
        self.coordinates = coordinates
    }

    subscript(point: UInt32) -> (x: Double, y: Double) {
        if let index = known[point] { return positions[Int(index)] }
        if isOnDisk(PointIndex(rawValue: point)) {
            findNeighbours(of: point)
            if let index = known[point] { return positions[Int(index)] }
        }
        let (longitude, latitude) = coordinates(PointIndex(rawValue: point))
        let position = compared(longitude, latitude)
        note(point, position.x, position.y)
        return position
    }

    /// A position as a build compares it.
    func compared(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double) {
        let (x, y) = base.options.unitPosition(longitude, latitude)
        return (Double(Scalar(x)), Double(Scalar(y)))
    }

    /// Remembers the positions of the points around the cluster that has a point.
    ///
    /// The cluster's members, and so its centre, are within its radius of the member from which it grew.
    private func findNeighbours(of point: UInt32) {
        let (columns, options) = (base.columns, base.options)
        guard Int(point) < base.pointCount else { return }
        let parent = Int(columns.parents[Int(point)])
        guard parent < base.clusterCount else { return }
        let zoom = Int(columns.zooms[parent])
        guard zoom >= options.minimumZoom, zoom <= options.maximumZoom else { return }
        let box = UnitBox(around: columns.x[parent], columns.y[parent], reach: 2 * options.unitRadius(at: zoom))
        var (looks, isFound) = (0, false)
        _ = spatial.visit(box, zoom: zoom + 1) { slot in
            looks += 1
            if Int(slot.node) < base.pointCount {
                note(slot.node, Double(slot.x), Double(slot.y))
                if slot.node == point { isFound = true }
            }
            return looks < (isFound ? Self.mostNeighbours : Self.mostLooks)
        }
    }

    /// Where thousands of points coincide, more are not looked at: reading the point's coordinates takes less time.
    private static var mostLooks: Int { 1024 }
    /// So many points are remembered once the one that was looked for is found.
    private static var mostNeighbours: Int { 256 }

    private func note(_ point: UInt32, _ x: Double, _ y: Double) {
        guard known[point] == nil else { return }
        known.set(point, UInt32(truncatingIfNeeded: positions.count))
        positions.append((x, y))
    }
}
