// SPDX-License-Identifier: MIT
import Glibc

/// The meridians and parallels of a frame, at steps that leave at least 90 pixels between them.
struct Graticule {
    /// A line and what it is labelled.
    struct Line: Equatable {
        /// In pixels: x of a meridian, y of a parallel.
        let position: Double
        let label: String
    }

    let meridians: [Line]
    let parallels: [Line]

    private static let steps = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60,
    ]
    private static let narrowest = 90.0
    /// Web Mercator's square ends soon after.
    private static let farthestLatitude = 85.0

    init(_ frame: PictureFrame) {
        let step = Self.steps.first { $0 / 360 * frame.worldSide >= Self.narrowest } ?? 90
        let decimals = max(0, Int((-log10(step)).rounded(.up)))
        let half = min(Double(frame.width) / frame.worldSide / 2, 0.5)
        meridians = Self.multiples(
            of: step, from: Mercator.longitude(frame.centreX - half),
            to: Mercator.longitude(frame.centreX + half)
        ).map { longitude in
            let turned = (longitude + 540).truncatingRemainder(dividingBy: 360) - 180
            let label = Self.label(turned == -180 ? 180 : turned, decimals, "E", "W")
            return Line(position: frame.pixel(x: Mercator.x(longitude), y: 0).x, label: label)
        }
        parallels = Self.multiples(
            of: step, from: max(frame.box.south, -Self.farthestLatitude),
            to: min(frame.box.north, Self.farthestLatitude)
        ).map { latitude in
            Line(
                position: frame.pixel(x: 0, y: Mercator.y(latitude)).y,
                label: Self.label(latitude, decimals, "N", "S"))
        }
    }

    private static func multiples(of step: Double, from low: Double, to high: Double) -> [Double] {
        guard let first = Int(exactly: (low / step).rounded(.up)),
            let last = Int(exactly: (high / step).rounded(.down)), first <= last
        else { return [] }
        return (first...last).map { Double($0) * step }
    }

    /// 10°E, 0.25°S, 0°.
    private static func label(_ degrees: Double, _ decimals: Int, _ positive: String, _ negative: String)
        -> String
    {
        let power = pow(10, Double(decimals))
        let scaled = Int((abs(degrees) * power).rounded())
        guard scaled != 0 else { return "0°" }
        var text = String(scaled / Int(power))
        if decimals > 0 {
            let digits = String(scaled % Int(power))
            text += "." + String(repeating: "0", count: decimals - digits.count) + digits
        }
        let isUnsigned = abs(degrees) == 180
        return text + "°" + (isUnsigned ? "" : degrees > 0 ? positive : negative)
    }
}
