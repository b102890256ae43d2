// SPDX-License-Identifier: MIT
import Glibc

/// Spherical Mercator: maps longitude and latitude in degrees to a unit square with its origin in the north-west.
/// It uses supercluster's order of operations, so that results agree to the last bit.
public enum Mercator {
    /// The horizontal position of a longitude: 0 at -180, 1 at +180.
    @inlinable public static func x(longitude: Double) -> Double { longitude / 360 + 0.5 }

    /// The vertical position of a latitude, clamped to 0 (north) to 1 (south) near the poles.
    @inlinable public static func y(latitude: Double) -> Double {
        let sine = sin(latitude * Double.pi / 180)
        let y = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / Double.pi
        return y < 0 ? 0 : y > 1 ? 1 : y
    }

    @inlinable public static func longitude(x: Double) -> Double { (x - 0.5) * 360 }

    @inlinable public static func latitude(y: Double) -> Double {
        let angle = (180 - y * 360) * Double.pi / 180
        return 360 * atan(exp(angle)) / Double.pi - 90
    }
}
