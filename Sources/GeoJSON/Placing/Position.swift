// SPDX-License-Identifier: MIT

/// A position of a geometry in degrees.
struct GeometryPosition: Equatable {
    var longitude: Double
    var latitude: Double

    func distance(to other: GeometryPosition) -> Double {
        let (x, y) = (longitude - other.longitude, latitude - other.latitude)
        return (x * x + y * y).squareRoot()
    }
}
