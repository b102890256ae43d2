// SPDX-License-Identifier: MIT
import CCairo

/// Draws with Cairo and Pango to SVG, PNG or PDF. Lengths are in pixels; opacities are from 0 to 1.
///
/// Invariant: `context` and `surface` are references that this object owns; they are released once, in
/// `deinit`. Cairo's stream writes into `sink`, which lives as long as this object. Coordinates are clamped
/// to a range that Cairo's fixed-point numbers can represent, and points that are not finite are left out.
final class PictureCanvas {
    private let surface: OpaquePointer
    private let context: OpaquePointer
    private let sink = ByteSink()
    private let format: PictureFormat

    /// - Parameter title: written to the document's properties, if the format has any.
    init(width: Int, height: Int, format: PictureFormat, title: String) throws(PictureError) {
        self.format = format
        let (wide, high) = (Double(width), Double(height))
        let made: OpaquePointer?
        switch format {
        case .png: made = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width), Int32(height))
        case .svg: made = cairo_svg_surface_create_for_stream(ByteSink.append, sink.closure, wide, high)
        case .pdf:
            made = cairo_pdf_surface_create_for_stream(
                ByteSink.append, sink.closure, wide * Self.pointsOfPixel, high * Self.pointsOfPixel)
        }
        guard let made, let context = cairo_create(made) else { throw PictureError(reason: "out of memory") }
        surface = made
        self.context = context
        switch format {
        case .png: break
        case .svg: cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX)
        case .pdf:
            cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title)
            cairo_scale(context, Self.pointsOfPixel, Self.pointsOfPixel)
        }
        try check()
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
    }

    /// A PDF's unit is 1/72 inch, a pixel is 1/96 inch.
    private static let pointsOfPixel = 0.75

    private func check() throws(PictureError) {
        for status in [cairo_status(context), cairo_surface_status(surface)]
        where status != CAIRO_STATUS_SUCCESS {
            throw PictureError(
                reason: cairo_status_to_string(status).map { String(cString: $0) } ?? "unknown")
        }
    }

    /// Returns the picture as a file's bytes; nothing can be drawn after this.
    func finish() throws(PictureError) -> [UInt8] {
        try check()
        if format == .png {
            cairo_surface_flush(surface)
            let status = cairo_surface_write_to_png_stream(surface, ByteSink.append, sink.closure)
            if status != CAIRO_STATUS_SUCCESS { throw PictureError(reason: "the PNG could not be written") }
        }
        cairo_surface_finish(surface)
        try check()
        return sink.bytes
    }

    // MARK: Shapes

    /// Fills rings by the even-odd rule.
    func fill(_ rings: [[PixelPoint]], colour: Colour, opacity: Double = 1) {
        for ring in rings {
            trace(ring)
            cairo_close_path(context)
        }
        setSource(colour, opacity)
        cairo_set_fill_rule(context, CAIRO_FILL_RULE_EVEN_ODD)
        cairo_fill(context)
    }

    func fill(_ box: PixelBox, colour: Colour, opacity: Double = 1) {
        cairo_rectangle(context, box.left, box.top, box.width, box.height)
        setSource(colour, opacity)
        cairo_fill(context)
    }

    /// Draws lines with the same style.
    func stroke(_ lines: [[PixelPoint]], width: Double, colour: Colour, opacity: Double = 1) {
        for line in lines { trace(line) }
        setSource(colour, opacity)
        cairo_set_line_width(context, width)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        cairo_stroke(context)
    }

    func stroke(_ box: PixelBox, width: Double, colour: Colour) {
        cairo_rectangle(context, box.left, box.top, box.width, box.height)
        setSource(colour, 1)
        cairo_set_line_width(context, width)
        cairo_stroke(context)
    }

    func fill(_ disc: Disc, colour: Colour, opacity: Double = 1) {
        guard trace(disc) else { return }
        setSource(colour, opacity)
        cairo_fill(context)
    }

    func stroke(_ disc: Disc, width: Double, colour: Colour, opacity: Double = 1) {
        guard trace(disc) else { return }
        setSource(colour, opacity)
        cairo_set_line_width(context, width)
        cairo_stroke(context)
    }

    /// Clips what `body` draws to a box, whose corner is the origin of its coordinates.
    func inside(_ box: PixelBox, _ body: () -> Void) {
        cairo_save(context)
        cairo_rectangle(context, box.left, box.top, box.width, box.height)
        cairo_clip(context)
        cairo_translate(context, box.left, box.top)
        body()
        cairo_restore(context)
    }

    private func setSource(_ colour: Colour, _ opacity: Double) {
        cairo_set_source_rgba(
            context, Double(colour.red) / 255, Double(colour.green) / 255, Double(colour.blue) / 255, opacity)
    }

    private func trace(_ points: [PixelPoint]) {
        cairo_new_sub_path(context)
        for point in points where point.x.isFinite && point.y.isFinite {
            cairo_line_to(context, Self.bounded(point.x), Self.bounded(point.y))
        }
    }

    private func trace(_ disc: Disc) -> Bool {
        guard abs(disc.centre.x) < Self.farthest, abs(disc.centre.y) < Self.farthest, disc.radius > 0 else {
            return false
        }
        cairo_new_sub_path(context)
        cairo_arc(context, disc.centre.x, disc.centre.y, disc.radius, 0, 2 * .pi)
        cairo_close_path(context)
        return true
    }

    /// Cairo's fixed-point numbers have 24 integer bits.
    private static let farthest = 1e6

    private static func bounded(_ value: Double) -> Double { min(max(value, -farthest), farthest) }

    // MARK: Text

    /// The width and height of a text's line, in pixels.
    func size(of text: PictureText) -> (width: Double, height: Double) {
        withLayout(text) { layout in
            var (width, height): (Int32, Int32) = (0, 0)
            pango_layout_get_pixel_size(layout, &width, &height)
            return (Double(width), Double(height))
        } ?? (0, 0)
    }

    func draw(_ text: PictureText, at position: PixelPoint) {
        guard abs(position.x) < Self.farthest, abs(position.y) < Self.farthest else { return }
        withLayout(text) { layout in
            var (width, height): (Int32, Int32) = (0, 0)
            pango_layout_get_pixel_size(layout, &width, &height)
            let shift =
                switch text.anchor {
                case .middle: Double(width) / 2
                case .left: 0.0
                case .right: Double(width)
                }
            cairo_move_to(context, position.x - shift, position.y - Double(height) / 2)
            if let halo = text.halo {
                pango_cairo_layout_path(context, layout)
                setSource(halo, 0.9)
                cairo_set_line_width(context, max(2, text.size / 4))
                cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
                cairo_stroke(context)
                cairo_move_to(context, position.x - shift, position.y - Double(height) / 2)
            }
            setSource(text.colour, 1)
            pango_cairo_show_layout(context, layout)
        }
    }

    @discardableResult
    private func withLayout<Result>(_ text: PictureText, _ body: (OpaquePointer) -> Result) -> Result? {
        guard let layout = pango_cairo_create_layout(context), let font = pango_font_description_new() else {
            return nil
        }
        defer {
            pango_font_description_free(font)
            releaseObject(layout)
        }
        pango_font_description_set_family(font, "DejaVu Sans, sans-serif")
        pango_font_description_set_weight(font, Int32(text.isBold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL))
        pango_font_description_set_absolute_size(font, text.size * Double(PANGO_SCALE))
        pango_layout_set_font_description(layout, font)
        pango_layout_set_single_paragraph_mode(layout, 1)
        pango_layout_set_text(layout, text.text, -1)
        return body(layout)
    }

    // MARK: Heat

    /// Sums up spots and converts the sum to colours.
    func heat(_ spots: [HeatSpot], in box: PixelBox) {
        guard let image = HeatImage(spots, in: box) else { return }
        cairo_save(context)
        cairo_translate(context, box.left, box.top)
        cairo_scale(context, box.width / Double(image.width), box.height / Double(image.height))
        cairo_set_source_surface(context, image.pixels.surface, 0, 0)
        cairo_paint(context)
        cairo_restore(context)
    }
}
