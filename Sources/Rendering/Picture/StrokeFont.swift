// SPDX-License-Identifier: MIT

/// A small font of lines for labels: digits, a point, and the letters of abbreviated counts.
///
/// A glyph is drawn on a field 6 high and as wide as it says, y down; corners are rounded off where the glyph
/// is round. Characters that the font does not have are left out.
enum StrokeFont {
    private struct Glyph {
        let width: Double
        var lines: [[(Double, Double)]] = []
        var curves: [[(Double, Double)]] = []
    }

    private static let gap = 1.3

    /// A text's lines in pixels, with the text's middle at a place.
    static func strokes(_ text: String, at centre: PixelPoint, height: Double) -> [[PixelPoint]] {
        let glyphs = text.compactMap { Self.glyphs[$0] }
        let scale = height / 6
        let total = glyphs.reduce(0) { $0 + $1.width } + gap * Double(max(glyphs.count - 1, 0))
        var x = centre.x - total * scale / 2
        let top = centre.y - height / 2
        var strokes: [[PixelPoint]] = []
        for glyph in glyphs {
            for stroke in glyph.lines + glyph.curves.map(rounded) {
                strokes.append(stroke.map { PixelPoint(x: x + $0.0 * scale, y: top + $0.1 * scale) })
            }
            x += (glyph.width + gap) * scale
        }
        return strokes
    }

    /// Cuts corners three times (Chaikin's curve); the ends stay.
    private static func rounded(_ corners: [(Double, Double)]) -> [(Double, Double)] {
        var points = corners
        for _ in 0..<3 {
            guard let first = points.first, let last = points.last else { return points }
            var cut = [first]
            for (start, end) in zip(points, points.dropFirst()) {
                cut.append((start.0 * 0.75 + end.0 * 0.25, start.1 * 0.75 + end.1 * 0.25))
                cut.append((start.0 * 0.25 + end.0 * 0.75, start.1 * 0.25 + end.1 * 0.75))
            }
            points = cut + [last]
        }
        return points
    }

    private static let glyphs: [Character: Glyph] = [
        "0": Glyph(width: 3.6, curves: [ring(0, 0, 3.6, 6)]),
        "1": Glyph(width: 2, lines: [[(0, 1.4), (1.5, 0), (1.5, 6)]]),
        "2": Glyph(
            width: 3.5, lines: [[(3.2, 2.8), (0, 6), (3.5, 6)]],
            curves: [[(0.1, 1.6), (0.1, 0), (3.4, 0), (3.5, 2.1), (3.2, 2.8)]]),
        "3": Glyph(
            width: 3.4,
            curves: [
                [(0, 0.9), (0.6, 0), (3.2, -0.2), (3.2, 2.9), (1.3, 2.9)],
                [(1.3, 2.9), (3.6, 2.9), (3.6, 6.2), (0.6, 6), (0, 5.1)],
            ]),
        "4": Glyph(width: 3.8, lines: [[(2.9, 6), (2.9, 0), (0, 4.2), (3.8, 4.2)]]),
        "5": Glyph(
            width: 3.5, lines: [[(3.2, 0), (0.6, 0), (0.3, 2.7)]],
            curves: [[(0.3, 2.7), (1.2, 2), (3.6, 2), (3.6, 6), (0.8, 6.2), (0, 5)]]),
        "6": Glyph(
            width: 3.6, curves: [[(2.9, 0), (0.9, 0.8), (0, 3), (0, 4.2)], ring(0, 2.4, 3.6, 6)]),
        "7": Glyph(width: 3.4, lines: [[(0, 0), (3.4, 0), (1.2, 6)]]),
        "8": Glyph(width: 3.6, curves: [ring(0.25, 0, 3.35, 2.9), ring(0, 2.9, 3.6, 6)]),
        "9": Glyph(
            width: 3.6, curves: [[(0.7, 6), (2.7, 5.2), (3.6, 3), (3.6, 1.8)], ring(0, 0, 3.6, 3.6)]),
        ".": Glyph(width: 0.5, lines: [[(0.2, 5.8), (0.3, 5.8)]]),
        "k": Glyph(width: 2.8, lines: [[(0, 0), (0, 6)], [(2.6, 2.2), (0, 4.4)], [(1, 3.6), (2.8, 6)]]),
        "M": Glyph(width: 4.4, lines: [[(0, 6), (0, 0), (2.2, 3.6), (4.4, 0), (4.4, 6)]]),
    ]

    /// An oval in a box, closed, as corners for `rounded`.
    private static func ring(
        _ left: Double, _ top: Double, _ right: Double, _ bottom: Double
    ) -> [(Double, Double)] {
        let (x, y) = ((left + right) / 2, (top + bottom) / 2)
        return [
            (x, top), (right, top), (right, y), (right, bottom), (x, bottom), (left, bottom), (left, y),
            (left, top), (x, top),
        ]
    }
}
