// SPDX-License-Identifier: MIT
import Glibc

/// Draws into pixels, with smooth edges: a pixel takes as much colour as its middle is inside, between half
/// a pixel out and half a pixel in.
struct RasterCanvas: Canvas {
    let width, height: Int
    /// Three bytes a pixel, row by row.
    private(set) var pixels: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        pixels = []
        pixels.reserveCapacity(width * height * 3)
        let paper = MarkerStyle.paper
        for _ in 0..<(width * height) { pixels += [paper.red, paper.green, paper.blue] }
    }

    mutating func circle(_ centre: PixelPoint, radius: Double, colour: Colour, opacity: Double) {
        fill(around: [centre], margin: radius + 1, colour, opacity) { point in
            radius - Self.distance(point, centre)
        }
    }

    mutating func line(_ points: [PixelPoint], width: Double, colour: Colour, opacity: Double) {
        for (start, end) in zip(points, points.dropFirst()) {
            fill(around: [start, end], margin: width / 2 + 1, colour, opacity) { point in
                width / 2 - Self.distance(point, fromLine: start, end)
            }
        }
    }

    mutating func polygon(_ corners: [PixelPoint], colour: Colour, opacity: Double) {
        let edges = zip(corners, corners.dropFirst() + corners.prefix(1)).map { ($0, $1) }
        fill(around: corners, margin: 1, colour, opacity) { point in
            var isInside = false
            var nearest = Double.infinity
            for (start, end) in edges {
                nearest = min(nearest, Self.distance(point, fromLine: start, end))
                let crosses = (start.y > point.y) != (end.y > point.y)
                if crosses, point.x < (end.x - start.x) * (point.y - start.y) / (end.y - start.y) + start.x {
                    isInside.toggle()
                }
            }
            return isInside ? nearest : -nearest
        }
    }

    mutating func label(_ text: String, at centre: PixelPoint, height: Double, colour: Colour) {
        let strokes = StrokeFont.strokes(text, at: centre, height: height)
        let thickness = max(1.1, height * 0.14)
        fill(around: strokes.flatMap { $0 }, margin: thickness + 1, colour, 1) { point in
            var nearest = Double.infinity
            for stroke in strokes {
                for index in 1..<max(stroke.count, 1) {
                    nearest = min(nearest, Self.distance(point, fromLine: stroke[index - 1], stroke[index]))
                }
            }
            return thickness / 2 - nearest
        }
    }

    mutating func heat(_ spots: [HeatSpot]) {
        // What is left open by all spots together; density is the rest.
        var open = [Double](repeating: 1, count: width * height)
        for spot in spots {
            for (x, y) in area(around: [spot.centre], margin: spot.radius) {
                let point = PixelPoint(x: Double(x) + 0.5, y: Double(y) + 0.5)
                let part = Self.distance(point, spot.centre) / spot.radius
                open[y * width + x] *= 1 - spot.weight * HeatRamp.fall(part)
            }
        }
        for place in open.indices where open[place] < 1 {
            let heat = HeatRamp.colour(1 - open[place])
            blend(heat.colour, heat.opacity, at: place)
        }
    }

    consuming func finish() throws -> [UInt8] { try PNG.encode(pixels, width: width, height: height) }

    // MARK: Pixels

    /// Blends a colour into the pixels of a shape.
    ///
    /// - Parameter depth: how far inside the shape a point lies, below 0 outside.
    private mutating func fill(
        around points: [PixelPoint], margin: Double, _ colour: Colour, _ opacity: Double,
        depth: (PixelPoint) -> Double
    ) {
        for (x, y) in area(around: points, margin: margin) {
            let cover = min(max(depth(PixelPoint(x: Double(x) + 0.5, y: Double(y) + 0.5)) + 0.5, 0), 1)
            if cover > 0 { blend(colour, cover * opacity, at: y * width + x) }
        }
    }

    private mutating func blend(_ colour: Colour, _ opacity: Double, at place: Int) {
        let weight = Int((opacity * 256).rounded())
        func mix(_ old: UInt8, _ new: UInt8) -> UInt8 {
            UInt8(clamping: (Int(old) * (256 - weight) + Int(new) * weight + 128) >> 8)
        }
        pixels[place * 3] = mix(pixels[place * 3], colour.red)
        pixels[place * 3 + 1] = mix(pixels[place * 3 + 1], colour.green)
        pixels[place * 3 + 2] = mix(pixels[place * 3 + 2], colour.blue)
    }

    /// The picture's pixels in the box of some points, with a margin.
    private func area(around points: [PixelPoint], margin: Double) -> PixelArea {
        let (xs, ys) = (points.map(\.x), points.map(\.y))
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else {
            return PixelArea(columns: 0..<0, rows: 0..<0)
        }
        return PixelArea(
            columns: Self.span(left - margin, right + margin, limit: width),
            rows: Self.span(top - margin, bottom + margin, limit: height))
    }

    private static func span(_ low: Double, _ high: Double, limit: Int) -> Range<Int> {
        let clamped = [low.rounded(.down), high.rounded(.up)].map { min(max($0, 0), Double(limit)) }
        guard let first = Int(exactly: clamped[0]), let last = Int(exactly: clamped[1]), first < last else {
            return 0..<0
        }
        return first..<last
    }

    private static func distance(_ one: PixelPoint, _ other: PixelPoint) -> Double {
        let (x, y) = (one.x - other.x, one.y - other.y)
        return (x * x + y * y).squareRoot()
    }

    private static func distance(
        _ point: PixelPoint, fromLine start: PixelPoint, _ end: PixelPoint
    ) -> Double {
        let (x, y) = (end.x - start.x, end.y - start.y)
        let square = x * x + y * y
        guard square > 0 else { return distance(point, start) }
        let along = min(max(((point.x - start.x) * x + (point.y - start.y) * y) / square, 0), 1)
        return distance(point, PixelPoint(x: start.x + along * x, y: start.y + along * y))
    }
}

/// A rectangle of pixels, row by row.
private struct PixelArea: Sequence, IteratorProtocol {
    private let columns: Range<Int>
    private let rows: Range<Int>
    private var column: Int
    private var row: Int

    init(columns: Range<Int>, rows: Range<Int>) {
        self.columns = columns
        self.rows = columns.isEmpty ? 0..<0 : rows
        column = columns.lowerBound
        row = self.rows.lowerBound
    }

    mutating func next() -> (x: Int, y: Int)? {
        guard row < rows.upperBound else { return nil }
        defer {
            column += 1
            if column == columns.upperBound {
                column = columns.lowerBound
                row += 1
            }
        }
        return (column, row)
    }
}
