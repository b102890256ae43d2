// SPDX-License-Identifier: MIT

/// Explains the circles, hulls and colours of a map, in one row.
struct Legend {
    /// The counts whose circles are shown as examples, in ascending order.
    let counts: [Int]
    let hasPoints: Bool
    let hasHulls: Bool
    let hasHeat: Bool

    init(of features: [MapFeature], showsHulls: Bool, showsHeat: Bool) {
        let most = features.map(\.count).max() ?? 1
        let powers = Array(sequence(first: 10) { $0 * 10 }.prefix { $0 <= most })
        counts = powers.isEmpty ? (most > 1 ? [most] : []) : Array(powers.suffix(4))
        hasPoints = features.contains { $0.count == 1 }
        hasHulls = showsHulls && features.contains { $0.hull != nil }
        hasHeat = showsHeat && !features.isEmpty
    }

    private static let textSize = 11.0

    /// Draws the row, vertically centred at `middle`.
    func draw(on canvas: PictureCanvas, left: Double, middle: Double, right limit: Double) {
        var x = left
        func label(_ text: String) {
            let text = PictureText(
                text: text, size: Self.textSize, colour: MarkerStyle.fadedInk, anchor: .left)
            canvas.draw(text, at: PixelPoint(x: x, y: middle))
            x += canvas.size(of: text).width + 18
        }
        func fits(_ width: Double) -> Bool { x + width <= limit }
        if hasPoints, fits(60) {
            MapPainter.drawPoint(PixelPoint(x: x + 5, y: middle), on: canvas)
            x += 15
            label("a point")
        }
        for count in counts {
            let radius = MarkerStyle.radius(count: count)
            guard fits(2 * radius + 60) else { break }
            MapPainter.drawCircle(
                Disc(centre: PixelPoint(x: x + radius, y: middle), radius: radius), count: count, on: canvas)
            x += 2 * radius + 7
            label(count == counts.first ? "\(Quantity.grouped(count)) points" : Quantity.grouped(count))
        }
        if hasHulls, fits(130) {
            let box = PixelBox(left: x, top: middle - 7, width: 22, height: 14)
            canvas.fill(box, colour: MarkerStyle.hull, opacity: 0.12)
            canvas.stroke(box, width: 1.25, colour: MarkerStyle.hull)
            x += 29
            label("a cluster's area")
        }
        if hasHeat, fits(190) {
            label("sparse")
            x -= 11
            drawRamp(on: canvas, left: x.rounded(), middle: middle)
            x += Self.rampWidth + 7
            label("dense")
        }
    }

    private static let rampWidth = 80.0

    private func drawRamp(on canvas: PictureCanvas, left: Double, middle: Double) {
        let parts = 40
        let width = Self.rampWidth / Double(parts)
        for part in 0..<parts {
            let (colour, opacity) = HeatRamp.colour((Double(part) + 0.5) / Double(parts))
            canvas.fill(
                PixelBox(left: left + Double(part) * width, top: middle - 6, width: width, height: 12),
                colour: colour, opacity: opacity)
        }
    }
}
