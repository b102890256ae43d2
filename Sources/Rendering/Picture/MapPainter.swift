// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON

/// Draws what a source shows as a picture: paper and grid, heat, hulls, points, clusters, counts.
public struct MapPainter {
    public let frame: PictureFrame
    let features: [Feature]
    var showsHulls = false
    var showsHeat = false

    public init(frame: PictureFrame, features: [Feature], showsHulls: Bool, showsHeat: Bool) {
        self.frame = frame
        self.features = features
        self.showsHulls = showsHulls
        self.showsHeat = showsHeat
    }

    public func svg() -> [UInt8] {
        var canvas = SVGCanvas(width: frame.width, height: frame.height)
        paint(on: &canvas)
        return canvas.finish()
    }

    public func png() throws -> [UInt8] {
        var canvas = RasterCanvas(width: frame.width, height: frame.height)
        paint(on: &canvas)
        return try canvas.finish()
    }

    func paint(on canvas: inout some Canvas) {
        paintGrid(on: &canvas)
        if showsHeat { canvas.heat(heatSpots) }
        if showsHulls { paintHulls(on: &canvas) }
        for feature in features where feature.cluster == nil {
            let centre = frame.pixel(longitude: feature.longitude, latitude: feature.latitude)
            let radius = MarkerStyle.pointRadius
            canvas.circle(centre, radius: radius + 1, colour: MarkerStyle.white, opacity: 1)
            canvas.circle(centre, radius: radius, colour: MarkerStyle.point, opacity: 1)
        }
        // The small ones last, so that no large one hides them.
        let clusters = features.compactMap { feature in feature.cluster.map { (feature, $0) } }
        for (feature, cluster) in clusters.sorted(by: { $0.1.pointCount > $1.1.pointCount }) {
            paint(cluster, of: feature, on: &canvas)
        }
    }

    private func paint(_ cluster: Feature.Cluster, of feature: Feature, on canvas: inout some Canvas) {
        let centre = frame.pixel(longitude: feature.longitude, latitude: feature.latitude)
        let radius = MarkerStyle.radius(count: cluster.pointCount)
        let colour = MarkerStyle.colour(count: cluster.pointCount)
        canvas.circle(centre, radius: radius + 3, colour: colour, opacity: 0.35)
        canvas.circle(centre, radius: radius, colour: colour, opacity: showsHeat ? 0.75 : 0.95)
        let text = cluster.abbreviatedCount
        // As high as the circle has room for in its breadth.
        let height = min(11, 1.9 * radius / (Double(max(text.count, 2)) * 0.75))
        canvas.label(text, at: centre, height: height, colour: MarkerStyle.ink)
    }

    // MARK: The grid

    /// Meridians and parallels at steps that leave some ninety pixels between them.
    private func paintGrid(on canvas: inout some Canvas) {
        let steps = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30]
        let step = steps.first { $0 / 360 * frame.worldSide >= 90 } ?? 30
        let (width, height) = (Double(frame.width), Double(frame.height))
        let half = min(width / frame.worldSide / 2, 0.5)
        let first = Int((Mercator.longitude(frame.centreX - half) / step).rounded(.up))
        let last = Int((Mercator.longitude(frame.centreX + half) / step).rounded(.down))
        let top = max(frame.pixel(x: 0, y: 0).y, 0)
        let bottom = min(frame.pixel(x: 0, y: 1).y, height)
        for number in first...max(first, last) {
            let x = frame.pixel(x: Mercator.x(Double(number) * step), y: 0).x
            line(PixelPoint(x: x, y: top), PixelPoint(x: x, y: bottom), on: &canvas)
        }
        let left = max(frame.pixel(x: frame.centreX - half, y: 0).x, 0)
        let right = min(frame.pixel(x: frame.centreX + half, y: 0).x, width)
        let limit = Int(85 / step)
        let south = max(Int((frame.box.south / step).rounded(.up)), -limit)
        let north = min(Int((frame.box.north / step).rounded(.down)), limit)
        for number in south...max(south, north) {
            let y = frame.pixel(x: 0, y: Mercator.y(Double(number) * step)).y
            line(PixelPoint(x: left, y: y), PixelPoint(x: right, y: y), on: &canvas)
        }
    }

    private func line(_ from: PixelPoint, _ to: PixelPoint, on canvas: inout some Canvas) {
        canvas.line([from, to], width: 1, colour: MarkerStyle.grid, opacity: 1)
    }

    // MARK: Hulls and heat

    private func paintHulls(on canvas: inout some Canvas) {
        for feature in features {
            guard let hull = feature.properties["hull"], let shape = HullShape(hull) else { continue }
            let pixels = frame.pixels(shape.places)
            if shape.isRing { canvas.polygon(pixels, colour: MarkerStyle.hull, opacity: 0.12) }
            canvas.line(pixels, width: 1.25, colour: MarkerStyle.hull, opacity: 0.7)
        }
    }

    /// Weighted by count: in proportion to its root, for in proportion to itself one city would leave nothing
    /// of the country.
    private var heatSpots: [HeatSpot] {
        let counts = features.map { Double($0.cluster?.pointCount ?? 1) }
        let most = max(counts.max() ?? 1, 1)
        return zip(features, counts).map { feature, count in
            let weight = (count / most).squareRoot()
            return HeatSpot(
                centre: frame.pixel(longitude: feature.longitude, latitude: feature.latitude),
                radius: 30 + 40 * weight, weight: max(weight, 0.05))
        }
    }
}

/// A cluster's hull as the daemon gives it.
struct HullShape {
    let places: [(longitude: Double, latitude: Double)]
    let isRing: Bool

    /// nil where it is no polygon and no line.
    init?(_ geometry: JSONValue) {
        switch geometry["type"]?.asString {
        case "Polygon":
            places = Self.places(geometry["coordinates"]?.asArray?.first)
            isRing = true
        case "LineString":
            places = Self.places(geometry["coordinates"])
            isRing = false
        default: return nil
        }
    }

    private static func places(_ list: JSONValue?) -> [(longitude: Double, latitude: Double)] {
        (list?.asArray ?? []).compactMap { place in
            guard let place = place.asArray, place.count >= 2, let longitude = place[0].asNumber,
                let latitude = place[1].asNumber
            else { return nil }
            return (longitude, latitude)
        }
    }
}
