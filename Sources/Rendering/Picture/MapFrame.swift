// SPDX-License-Identifier: MIT

/// Draws what surrounds a map: the title and the caption, the graticule's labels, the legend.
struct MapFrame {
    let picture: MapPicture
    let features: [MapFeature]

    /// The part of the picture that the world fills.
    private var map: PixelBox {
        let (map, world) = (picture.layout.map, picture.frame.worldArea)
        return PixelBox(
            left: map.left + world.left, top: map.top + world.top, width: world.width, height: world.height)
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
            let text = PictureText(
                text: line.label, size: Self.labelSize, colour: MarkerStyle.fadedInk, anchor: .right)
            canvas.draw(text, at: PixelPoint(x: map.left - 6, y: top + line.position))
        }
    }
}
