// SPDX-License-Identifier: MIT

/// Draws what is below a map's markers: land, borders and the graticule.
struct WorldPainter {
    let frame: PictureFrame

    /// Points closer than this to the previous one, in pixels, are left out: they are invisible and make files large.
    private static let detail = 0.4

    func paint(_ graticule: Graticule, on canvas: PictureCanvas) {
        if frame.projection.wraps {
            paintOutline(on: canvas)
        } else {
            canvas.fill(frame.worldArea, colour: MarkerStyle.land)
        }
        let area = frame.worldArea
        let meridians = graticule.meridians.map {
            [PixelPoint(x: $0.position, y: area.top), PixelPoint(x: $0.position, y: area.bottom)]
        }
        let parallels = graticule.parallels.map {
            [PixelPoint(x: area.left, y: $0.position), PixelPoint(x: area.right, y: $0.position)]
        }
        canvas.stroke(meridians + parallels, width: 0.75, colour: MarkerStyle.graticule, opacity: 0.8)
    }

    private func paintOutline(on canvas: PictureCanvas) {
        canvas.inside(frame.worldArea) {
            let shift = frame.worldArea.left
            let world = WorldOutline.shared
            // The world repeats to its east and west.
            for copy in [-1.0, 0, 1] {
                func pixels(_ line: [WorldOutline.UnitPoint]) -> [PixelPoint] {
                    thinned(line.map { frame.pixel(x: $0.x + copy, y: $0.y) }, shift)
                }
                for rings in world.land { canvas.fill(rings.map(pixels), colour: MarkerStyle.land) }
                canvas.stroke(world.borders.map(pixels), width: 0.75, colour: MarkerStyle.border)
                canvas.stroke(world.coasts.map(pixels), width: 0.75, colour: MarkerStyle.coast)
            }
        }
    }

    /// The line in pixels from `left`, without needless points; empty if no part of it can be seen.
    private func thinned(_ line: [PixelPoint], _ left: Double) -> [PixelPoint] {
        let (xs, ys) = (line.map(\.x), line.map(\.y))
        guard let west = xs.min(), let east = xs.max(), let north = ys.min(), let south = ys.max(),
            east > left,
            west < frame.worldArea.right, south > 0, north < Double(frame.height)
        else { return [] }
        var kept: [PixelPoint] = []
        for (index, point) in line.enumerated() {
            if let last = kept.last, index < line.count - 1,
                abs(point.x - left - last.x) + abs(point.y - last.y) < Self.detail
            {
                continue
            }
            kept.append(PixelPoint(x: point.x - left, y: point.y))
        }
        return kept
    }
}
