// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON

/// The meridians and parallels of a frame, or the lines of a plane, at steps that leave at least 90 pixels
/// between them.
struct Graticule {
    /// A line and its label.
    struct Line: Equatable {
        /// The position in pixels: x of a meridian, y of a parallel.
        let position: Double
        let label: String
    }

    let meridians: [Line]
    let parallels: [Line]

    private static let steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60]
    private static let narrowest = 90.0
    /// The farthest latitude of a parallel: Web Mercator's square ends soon after it.
    private static let farthestLatitude = 85.0

    init(_ frame: PictureFrame) {
        self = frame.projection.plane.map { Graticule(frame, plane: $0) } ?? Graticule(world: frame)
    }

    private init(world frame: PictureFrame) {
        let step = Self.steps.first { $0 / 360 * frame.worldSide >= Self.narrowest } ?? 90
        let decimals = max(0, Int((-log10(step)).rounded(.up)))
        let half = min(Double(frame.width) / frame.worldSide / 2, 0.5)
        meridians = Self.multiples(
            of: step, from: Mercator.longitude(frame.centreX - half), to: Mercator.longitude(frame.centreX + half)
        ).map { longitude in
            let wrapped = (longitude + 540).truncatingRemainder(dividingBy: 360) - 180
            let label = Self.label(wrapped == -180 ? 180 : wrapped, decimals, "E", "W")
            return Line(position: frame.pixel(x: Mercator.x(longitude), y: 0).x, label: label)
        }
        parallels = Self.multiples(
            of: step, from: max(frame.box.south, -Self.farthestLatitude),
            to: min(frame.box.north, Self.farthestLatitude)
        ).map { latitude in
            Line(
                position: frame.pixel(x: 0, y: Mercator.y(latitude)).y, label: Self.label(latitude, decimals, "N", "S"))
        }
    }

    /// The lines of a plane, in its units, at steps of 1, 2 or 5 times a power of ten.
    private init(_ frame: PictureFrame, plane: BoundingBox) {
        let unit = frame.worldSide * (frame.projection.x(plane.west + 1) - frame.projection.x(plane.west))
        let power = pow(10, log10(Self.narrowest / unit).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 * unit >= Self.narrowest } ?? 10 * power
        let decimals = max(0, Int((-log10(step)).rounded(.up)))
        func label(_ value: Double) -> String { String(javaScript: value.rounded(decimals: decimals)) }
        let box = frame.box
        meridians = Self.multiples(of: step, from: box.west, to: box.east).map {
            Line(position: frame.pixel(x: frame.projection.x($0), y: 0).x, label: label($0))
        }
        parallels = Self.multiples(of: step, from: box.south, to: box.north).map {
            Line(position: frame.pixel(x: 0, y: frame.projection.y($0)).y, label: label($0))
        }
    }

    private static func multiples(of step: Double, from low: Double, to high: Double) -> [Double] {
        guard let first = Int(exactly: (low / step).rounded(.up)),
            let last = Int(exactly: (high / step).rounded(.down)), first <= last
        else { return [] }
        return (first...last).map { Double($0) * step }
    }

    /// A label such as 10°E, 0.25°S or 0°.
    private static func label(_ degrees: Double, _ decimals: Int, _ positive: String, _ negative: String) -> String {
        let text = Quantity.fixed(abs(degrees), decimals: decimals)
        guard text.contains(where: { $0 != "0" && $0 != "." }) else { return "0°" }
        let isUnsigned = abs(degrees) == 180
        return text + "°" + (isUnsigned ? "" : degrees > 0 ? positive : negative)
    }
}
