// SPDX-License-Identifier: MIT
import Glibc

/// Where to draw the points of a cluster whose points all coincide, so that each can be seen and clicked: in pixels
/// from that location, x to the right and y down. Up to 8 points stand on a circle, more on a spiral.
enum SpiderOffsets {
    /// More points get no offset.
    static let most = 60
    private static let mostOnCircle = 8
    /// The approximate distance of neighbours in pixels: a marker's width.
    private static let distance = 28.0

    static func offsets(of count: Int) -> [(x: Double, y: Double)] {
        count <= mostOnCircle ? circle(count) : spiral(min(count, most))
    }

    /// The first point is at the top, the others follow clockwise.
    private static func circle(_ count: Int) -> [(x: Double, y: Double)] {
        let step = 2 * Double.pi / Double(max(count, 1))
        let radius = max(distance, distance / (2 * sin(step / 2)))
        return (0..<count).map { offset(angle: Double($0) * step, radius: radius) }
    }

    /// An Archimedean spiral whose turns are as far apart as its points.
    private static func spiral(_ count: Int) -> [(x: Double, y: Double)] {
        var (angle, radius) = (0.0, distance)
        return (0..<count).map { _ in
            let next = offset(angle: angle, radius: radius)
            angle += distance / radius
            radius = distance * (1 + angle / (2 * Double.pi))
            return next
        }
    }

    private static func offset(angle: Double, radius: Double) -> (x: Double, y: Double) {
        func rounded(_ value: Double) -> Double {
            let tenths = (value * 10).rounded() / 10
            return tenths == 0 ? 0 : tenths
        }
        return (rounded(radius * sin(angle)), rounded(-radius * cos(angle)))
    }
}
