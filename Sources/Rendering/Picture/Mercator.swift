// SPDX-License-Identifier: MIT
import Glibc

/// The Web Mercator projection onto the unit square, x to the east and y to the south.
enum Mercator {
    static func x(_ longitude: Double) -> Double { longitude / 360 + 0.5 }

    static func y(_ latitude: Double) -> Double {
        let sine = sin(latitude * .pi / 180)
        let y = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / .pi
        return min(max(y, 0), 1)
    }

    static func longitude(_ x: Double) -> Double { (x - 0.5) * 360 }

    static func latitude(_ y: Double) -> Double { 360 * atan(exp((180 - y * 360) * .pi / 180)) / .pi - 90 }

    /// The side of a tile in pixels, which is the world's at zoom 0.
    static let tileSide = 512.0
}
