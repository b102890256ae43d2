// SPDX-License-Identifier: MIT

/// A position of a geometry in degrees.
struct Position: Equatable {
    var longitude: Double
    var latitude: Double

    func distance(to other: Position) -> Double {
        let (x, y) = (longitude - other.longitude, latitude - other.latitude)
        return (x * x + y * y).squareRoot()
    }
}
