// SPDX-License-Identifier: MIT
import CCairo

/// A heat map as an image: the sum of spots, converted to colours.
///
/// Invariant: `surface` is a reference that this object owns, an image of 32-bit premultiplied pixels.
final class HeatImage {
    let width, height: Int
    private let surface: OpaquePointer

    /// The number of the picture's pixels per pixel of the image: heat is smooth, so a quarter of the pixels is
    /// enough.
    private static let coarseness = 2.0

    /// Nil if there is nothing to draw, or no memory.
    init?(_ spots: [HeatSpot], in box: PixelBox) {
        width = max(1, Int((box.width / Self.coarseness).rounded(.up)))
        height = max(1, Int((box.height / Self.coarseness).rounded(.up)))
        guard !spots.isEmpty,
            let density = cairo_image_surface_create(CAIRO_FORMAT_A8, Int32(width), Int32(height)),
            let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height))
        else { return nil }
        self.surface = surface
        defer { cairo_surface_destroy(density) }
        Self.add(spots, in: box, to: density)
        colour(density)
    }

    deinit { cairo_surface_destroy(surface) }

    func withSurface(_ body: (OpaquePointer) -> Void) { body(surface) }

    private static func add(_ spots: [HeatSpot], in box: PixelBox, to density: OpaquePointer) {
        guard let context = cairo_create(density) else { return }
        defer { cairo_destroy(context) }
        cairo_scale(context, 1 / coarseness, 1 / coarseness)
        cairo_translate(context, -box.left, -box.top)
        cairo_set_operator(context, CAIRO_OPERATOR_ADD)
        for spot in spots where box.intersects(Disc(centre: spot.centre, radius: spot.radius)) {
            let (x, y) = (spot.centre.x, spot.centre.y)
            guard let gradient = cairo_pattern_create_radial(x, y, 0, x, y, spot.radius) else { return }
            for step in 0...10 {
                let part = Double(step) / 10
                cairo_pattern_add_color_stop_rgba(
                    gradient, part, 0, 0, 0, spot.weight * HeatRamp.falloff(part))
            }
            cairo_set_source(context, gradient)
            cairo_arc(context, x, y, spot.radius, 0, 2 * .pi)
            cairo_fill(context)
            cairo_pattern_destroy(gradient)
        }
    }

    /// Fills the image with the colours of the densities.
    private func colour(_ density: OpaquePointer) {
        cairo_surface_flush(density)
        cairo_surface_flush(surface)
        guard let from = cairo_image_surface_get_data(density),
            let into = cairo_image_surface_get_data(surface)
        else { return }
        let (fromStride, intoStride) = (
            Int(cairo_image_surface_get_stride(density)), Int(cairo_image_surface_get_stride(surface))
        )
        let table = Self.table
        for row in 0..<height {
            for column in 0..<width {
                let pixel = table[Int(from[row * fromStride + column])]
                UnsafeMutableRawPointer(into).storeBytes(
                    of: pixel, toByteOffset: row * intoStride + column * 4, as: UInt32.self)
            }
        }
        cairo_surface_mark_dirty(surface)
    }

    /// The premultiplied pixel of each density.
    private static let table: [UInt32] = (0...255).map { density in
        let (colour, opacity) = HeatRamp.colour(Double(density) / 255)
        func channel(_ value: UInt8) -> UInt32 { UInt32((Double(value) * opacity).rounded()) }
        let alpha = UInt32((opacity * 255).rounded())
        return alpha << 24 | channel(colour.red) << 16 | channel(colour.green) << 8 | channel(colour.blue)
    }
}
