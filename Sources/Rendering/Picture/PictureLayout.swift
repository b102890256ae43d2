// SPDX-License-Identifier: MIT

/// The positions of a picture's parts: the title above the map, the graticule's labels beside it, the legend below.
struct PictureLayout {
    let width, height: Int
    let map: PixelBox
    /// Whether anything surrounds the map.
    let isFramed: Bool

    static let titleHeight = 40.0
    static let leftMargin = 46.0
    static let rightMargin = 18.0
    static let labelHeight = 20.0
    static let legendHeight = 84.0

    /// - Parameter isPlain: whether the map fills the picture. It also does if the picture is too small for
    ///   anything else.
    init(width: Int, height: Int, isPlain: Bool) {
        self.width = width
        self.height = height
        isFramed = !isPlain && width >= 360 && height >= 300
        let (wide, high) = (Double(width), Double(height))
        guard isFramed else {
            map = PixelBox(left: 0, top: 0, width: wide, height: high)
            return
        }
        map = PixelBox(
            left: Self.leftMargin, top: Self.titleHeight, width: wide - Self.leftMargin - Self.rightMargin,
            height: high - Self.titleHeight - Self.labelHeight - Self.legendHeight)
    }
}

/// A position in a picture, in pixels from its upper left corner.
struct PixelPoint: Equatable, Sendable {
    var x, y: Double
}

/// A rectangle in a picture, in pixels.
struct PixelBox: Equatable, Sendable {
    var left, top, width, height: Double

    var right: Double { left + width }
    var bottom: Double { top + height }
    var centre: PixelPoint { PixelPoint(x: left + width / 2, y: top + height / 2) }

    static func around(_ centre: PixelPoint, width: Double, height: Double) -> PixelBox {
        PixelBox(left: centre.x - width / 2, top: centre.y - height / 2, width: width, height: height)
    }

    func intersects(_ other: PixelBox) -> Bool {
        left < other.right && other.left < right && top < other.bottom && other.top < bottom
    }

    /// Whether part of a disc lies in the rectangle.
    func intersects(_ disc: Disc) -> Bool {
        let x = disc.centre.x - min(max(disc.centre.x, left), right)
        let y = disc.centre.y - min(max(disc.centre.y, top), bottom)
        return x * x + y * y < disc.radius * disc.radius
    }
}

/// A filled circle in a picture, in pixels.
struct Disc: Equatable, Sendable {
    var centre: PixelPoint
    var radius: Double
}

/// The style of a text in a picture, and what its position refers to.
struct PictureText {
    enum Anchor { case middle, left, right }

    var text: String
    /// The font's size in pixels.
    var size: Double
    var colour = MarkerStyle.ink
    var isBold = false
    /// The part of the text's line at the position; vertically it is always the middle.
    var anchor = Anchor.middle
    /// The colour of an outline around the letters, which makes them legible on any background.
    var halo: Colour?
}

/// Draws what surrounds a map: the title and the caption, the graticule's labels, the legend.
struct MapFrame {
    let picture: MapPicture
    let features: [MapFeature]

    /// The part of the picture that the world fills.
    private var map: PixelBox {
        let (map, world) = (picture.layout.map, picture.frame.worldArea)
        return PixelBox(left: map.left + world.left, top: map.top + world.top, width: world.width, height: world.height)
    }

    private static let labelSize = 10.0
    private static let titleSize = 18.0
    private static let captionSize = 11.0

    func paint(_ graticule: Graticule, on canvas: PictureCanvas) {
        canvas.stroke(map, width: 1, colour: MarkerStyle.coast)
        paintTitle(on: canvas)
        paintLabels(graticule, on: canvas)
        Legend(of: features, showsHulls: picture.showsHulls, showsHeat: picture.showsHeat).draw(
            on: canvas, left: map.left,
            middle: picture.layout.map.bottom + PictureLayout.labelHeight + PictureLayout.legendHeight / 2,
            right: map.right)
    }

    private func paintTitle(on canvas: PictureCanvas) {
        let (map, middle) = (map, PictureLayout.titleHeight / 2)
        let title = PictureText(text: picture.title, size: Self.titleSize, isBold: true, anchor: .left)
        canvas.draw(title, at: PixelPoint(x: map.left, y: middle))
        let caption = PictureText(
            text: picture.caption, size: Self.captionSize, colour: MarkerStyle.fadedInk, anchor: .right)
        guard canvas.size(of: title).width + canvas.size(of: caption).width + 20 <= map.width else { return }
        canvas.draw(caption, at: PixelPoint(x: map.right, y: middle))
    }

    private func paintLabels(_ graticule: Graticule, on canvas: PictureCanvas) {
        let (map, top) = (map, picture.layout.map.top)
        var end = -Double.infinity
        for line in graticule.meridians {
            let text = PictureText(text: line.label, size: Self.labelSize, colour: MarkerStyle.fadedInk)
            let (x, half) = (picture.layout.map.left + line.position, canvas.size(of: text).width / 2)
            guard x - half > end, x + half <= Double(picture.layout.width) else { continue }
            canvas.draw(text, at: PixelPoint(x: x, y: map.bottom + PictureLayout.labelHeight / 2))
            end = x + half + 4
        }
        for line in graticule.parallels where (map.top...map.bottom).contains(top + line.position) {
            let text = PictureText(text: line.label, size: Self.labelSize, colour: MarkerStyle.fadedInk, anchor: .right)
            canvas.draw(text, at: PixelPoint(x: map.left - 6, y: top + line.position))
        }
    }
}

/// Explains the circles, hulls and colours of a map, in one row.
struct Legend {
    /// The counts whose circles are shown as examples, in ascending order.
    let counts: [Int]
    let hasPoints: Bool
    let hasHulls: Bool
    let hasHeat: Bool

    init(of features: [MapFeature], showsHulls: Bool, showsHeat: Bool) {
        let most = features.map(\.count).max() ?? 1
        let powers = Array(
            sequence(first: 10) { $0 * 10 }.prefix {
                $0 <= most && 2 * MarkerStyle.radius(count: $0) < PictureLayout.legendHeight
            })
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
            let text = PictureText(text: text, size: Self.textSize, colour: MarkerStyle.fadedInk, anchor: .left)
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
