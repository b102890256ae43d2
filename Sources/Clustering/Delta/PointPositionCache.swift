// SPDX-License-Identifier: MIT

/// Positions of points that updates have not placed; each is projected once.
final class PointPositionCache<Scalar: Coordinate> {
    private let options: ClusteringOptions
    private let coordinates: (PointIndex) -> (longitude: Double, latitude: Double)
    private var known = NumberMap()
    private var positions: [(x: Double, y: Double)] = []

    init(
        _ options: ClusteringOptions,
        _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) {
        self.options = options
        self.coordinates = coordinates
    }

    subscript(point: UInt32) -> (x: Double, y: Double) {
        if let index = known[point] { return positions[Int(index)] }
        let (longitude, latitude) = coordinates(PointIndex(rawValue: point))
        let position = compared(longitude, latitude)
        known.set(point, UInt32(truncatingIfNeeded: positions.count))
        positions.append(position)
        return position
    }

    /// A position as a build compares it.
    func compared(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double) {
        let (x, y) = options.unitPosition(longitude, latitude)
        return (Double(Scalar(x)), Double(Scalar(y)))
    }
}
