// SPDX-License-Identifier: MIT
import ClusterClient

/// Draws a map from the bottom up: sea, land and borders, graticule, hulls, points and circles, heat, counts;
/// then its surroundings.
struct MapPainter {
    private let picture: MapPicture
    private let frame: PictureFrame
    private let points: [MapFeature]
    /// The clusters from the largest to the smallest, so that no large one hides a small one.
    private let clusters: [MapFeature]
    private let discs: [Disc]

    init(picture: MapPicture, features: [Feature]) {
        self.picture = picture
        frame = picture.frame
        let shown = features.map { MapFeature($0, picture.frame) }
        points = shown.filter { $0.label == nil }
        clusters = shown.filter { $0.label != nil }.sorted { $0.count > $1.count }
        discs = clusters.map { Disc(centre: $0.position, radius: MarkerStyle.radius(count: $0.count)) }
    }

    func paint(on canvas: PictureCanvas) {
        let (layout, graticule) = (picture.layout, Graticule(frame))
        canvas.fill(
            PixelBox(left: 0, top: 0, width: Double(layout.width), height: Double(layout.height)),
            colour: MarkerStyle.paper)
        canvas.inside(layout.map) { paintMap(graticule, on: canvas) }
        if layout.isFramed {
            MapFrame(picture: picture, features: points + clusters).paint(graticule, on: canvas)
        }
    }

    private func paintMap(_ graticule: Graticule, on canvas: PictureCanvas) {
        canvas.fill(frame.worldArea, colour: MarkerStyle.sea)
        WorldPainter(frame: frame).paint(graticule, on: canvas)
        if picture.showsHulls { paintHulls(on: canvas) }
        for point in points { Self.drawPoint(point.position, on: canvas) }
        for (cluster, disc) in zip(clusters, discs) {
            Self.drawCircle(disc, count: cluster.count, on: canvas)
        }
        if picture.showsHeat { canvas.heat(heatSpots, in: frame.area) }
        paintCounts(on: canvas)
    }

    // MARK: Markers

    static func drawPoint(_ centre: PixelPoint, on canvas: PictureCanvas) {
        canvas.fill(Disc(centre: centre, radius: MarkerStyle.pointRadius + 1), colour: MarkerStyle.white)
        canvas.fill(Disc(centre: centre, radius: MarkerStyle.pointRadius), colour: MarkerStyle.point)
    }

    static func drawCircle(_ disc: Disc, count: Int, on canvas: PictureCanvas) {
        let colour = MarkerStyle.colour(count: count)
        canvas.fill(disc, colour: colour, opacity: 0.92)
        canvas.stroke(disc, width: 1.25, colour: MarkerStyle.white)
    }

    private func paintCounts(on canvas: PictureCanvas) {
        var placement = LabelPlacement(discs: discs, in: frame.area)
        for (number, cluster) in clusters.enumerated().reversed() {
            guard let label = cluster.label else { continue }
            let size = min(12, 1.7 * discs[number].radius / (Double(max(label.count, 2)) * 0.62))
            let text = PictureText(text: label, size: size, halo: picture.showsHeat ? MarkerStyle.white : nil)
            let extent = canvas.size(of: text)
            // The line's height includes room for descenders, which digits do not have.
            let position = placement.place(width: extent.width, height: size * 0.8, in: number)
            canvas.draw(text, at: position)
        }
    }

    private func paintHulls(on canvas: PictureCanvas) {
        for hull in clusters.compactMap(\.hull) {
            let pixels = frame.pixels(hull.positions)
            if hull.isRing { canvas.fill([pixels], colour: MarkerStyle.hull, opacity: 0.12) }
            canvas.stroke([pixels], width: 1.25, colour: MarkerStyle.hull, opacity: 0.7)
        }
    }

    /// The spots of the heat map, weighted by the square root of the count: weighted by the count itself, one
    /// city would outshine the rest of the country.
    private var heatSpots: [HeatSpot] {
        let shown = points + clusters
        let most = Double(shown.map(\.count).max() ?? 1)
        return shown.map { feature in
            let weight = (Double(feature.count) / most).squareRoot()
            return HeatSpot(centre: feature.position, radius: 30 + 40 * weight, weight: max(weight, 0.05))
        }
    }
}
