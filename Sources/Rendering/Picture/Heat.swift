// SPDX-License-Identifier: MIT
import CCairo

/// A heat map as an image: the sum of spots, converted to colours.
struct HeatImage {
    let width, height: Int
    /// 32-bit premultiplied pixels.
    let pixels: PixelImage

    /// The number of the picture's pixels per pixel of the image: heat is smooth, so a quarter of the pixels is enough.
    private static let coarseness = 2.0

    /// Nil if there is nothing to draw, or no memory.
    init?(_ spots: [HeatSpot], in box: PixelBox) {
        width = max(1, Int((box.width / Self.coarseness).rounded(.up)))
        height = max(1, Int((box.height / Self.coarseness).rounded(.up)))
        guard !spots.isEmpty,
            let density = PixelImage(CAIRO_FORMAT_A8, width: width, height: height),
            let pixels = PixelImage(CAIRO_FORMAT_ARGB32, width: width, height: height)
        else { return nil }
        self.pixels = pixels
        Self.add(spots, in: box, to: density)
        pixels.fill(from: density, through: Self.table, width: width, height: height)
    }

    private static func add(_ spots: [HeatSpot], in box: PixelBox, to density: PixelImage) {
        guard let context = cairo_create(density.surface) else { return }
        defer { cairo_destroy(context) }
        cairo_scale(context, 1 / coarseness, 1 / coarseness)
        cairo_translate(context, -box.left, -box.top)
        cairo_set_operator(context, CAIRO_OPERATOR_ADD)
        for spot in spots where box.intersects(Disc(centre: spot.centre, radius: spot.radius)) {
            let (x, y) = (spot.centre.x, spot.centre.y)
            guard let gradient = cairo_pattern_create_radial(x, y, 0, x, y, spot.radius) else { return }
            for step in 0...10 {
                let part = Double(step) / 10
                cairo_pattern_add_color_stop_rgba(gradient, part, 0, 0, 0, spot.weight * HeatRamp.falloff(part))
            }
            cairo_set_source(context, gradient)
            cairo_arc(context, x, y, spot.radius, 0, 2 * .pi)
            cairo_fill(context)
            cairo_pattern_destroy(gradient)
        }
    }

    /// The premultiplied pixel of each density.
    private static let table: [UInt32] = (0...255).map { density in
        let (colour, opacity) = HeatRamp.colour(Double(density) / 255)
        func channel(_ value: UInt8) -> UInt32 { UInt32((Double(value) * opacity).rounded()) }
        let alpha = UInt32((opacity * 255).rounded())
        return alpha << 24 | channel(colour.red) << 16 | channel(colour.green) << 8 | channel(colour.blue)
    }
}

/// Converts density to colour.
enum HeatRamp {
    /// The fraction of a spot's weight that remains at a fraction of its radius, from 0 in the middle to 1 at its edge.
    static func falloff(_ part: Double) -> Double {
        let rest = max(0, 1 - part * part)
        return rest * rest
    }

    /// The opacity of each colour: low density is transparent.
    static let opacities = [0, 0.45, 0.55, 0.6, 0.65, 0.7]

    /// The colour and opacity of a density from 0 to 1.
    static func colour(_ density: Double) -> (colour: Colour, opacity: Double) {
        let position = min(max(density, 0), 1) * Double(MarkerStyle.heat.count - 1)
        let lower = min(Int(position), MarkerStyle.heat.count - 2)
        let part = position - Double(lower)
        return (
            MarkerStyle.heat[lower].mixed(with: MarkerStyle.heat[lower + 1], part: part),
            opacities[lower] + (opacities[lower + 1] - opacities[lower]) * part
        )
    }
}

/// A spot of a heat map: the density of its middle, from 0 to 1, and its radius in pixels.
struct HeatSpot: Equatable, Sendable {
    let centre: PixelPoint
    let radius: Double
    let weight: Double
}

/// A colour with eight bits per channel, without alpha.
struct Colour: Equatable, Sendable {
    let red, green, blue: UInt8

    /// A colour between this one and another, from 0 (this one) to 1 (the other).
    func mixed(with other: Colour, part: Double) -> Colour {
        func between(_ one: UInt8, _ other: UInt8) -> UInt8 {
            UInt8(clamping: Int((Double(one) + (Double(other) - Double(one)) * part).rounded()))
        }
        return Colour(red: between(red, other.red), green: between(green, other.green), blue: between(blue, other.blue))
    }
}

extension Colour {
    /// - Parameter rgb: as in CSS, 0xRRGGBB.
    init(_ rgb: UInt32) {
        func channel(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: rgb >> shift) }
        self.init(red: channel(16), green: channel(8), blue: channel(0))
    }
}
