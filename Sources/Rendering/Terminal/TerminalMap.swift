// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// The terminal's map: what is shown, and which cluster is chosen.
struct TerminalMap {
    var camera: MapCamera
    private(set) var features: [Feature] = []
    private var keys: [String] = []
    private var isLoaded = false
    /// The chosen one's place among those shown.
    private(set) var chosen: Int?
    /// Said in place of the help, until the next key.
    var message = ""

    init(camera: MapCamera) { self.camera = camera }

    /// Shows new markers in place of the old, and chooses the cluster nearest to the middle.
    ///
    /// - Parameter keepingChoice: whether the chosen cluster stays chosen where it is still there.
    mutating func show(_ markers: [Marker], keepingChoice: Bool) {
        let key = chosen.map { keys[$0] }
        features = markers.map(\.feature)
        keys = markers.map(\.key)
        isLoaded = true
        let kept = keepingChoice ? key.flatMap { key in keys.firstIndex { $0 == key } } : nil
        chosen = kept ?? order.first
    }

    /// Chooses the next cluster further out, from the last one the first again.
    mutating func chooseNext() {
        let order = order
        guard let chosen, let place = order.firstIndex(of: chosen) else { return self.chosen = order.first }
        self.chosen = order[(place + 1) % order.count]
    }

    var chosenFeature: Feature? {
        chosen.map { features[$0] }
    }

    /// The clusters in sight, from the middle outwards.
    private var order: [Int] {
        let frame = camera.frame
        func distance(_ place: Int) -> Double {
            let feature = features[place]
            let pixel = frame.pixel(longitude: feature.longitude, latitude: feature.latitude)
            let (x, y) = (pixel.x - Double(frame.width) / 2, pixel.y - Double(frame.height) / 2)
            return x * x + y * y
        }
        let clusters = features.indices.filter { features[$0].cluster != nil }
        return clusters.map { ($0, distance($0)) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    // MARK: Drawing

    /// The screen's lines: the map, then a line that tells where and what it is.
    func lines(source: String, palette: TerminalPalette) -> [String] {
        var grid = TerminalGrid(columns: camera.columns, rows: camera.rows)
        draw(on: &grid)
        return grid.lines(palette) + ["\u{1B}[7m" + statusLine(source: source) + "\u{1B}[0m"]
    }

    private func draw(on grid: inout TerminalGrid) {
        let frame = camera.frame
        for feature in features where feature.cluster == nil {
            let place = frame.pixel(longitude: feature.longitude, latitude: feature.latitude)
            grid.text("•", at: place, ink: MarkerStyle.point)
        }
        let clusters = features.indices.filter { features[$0].cluster != nil && $0 != chosen }
        let bySize = clusters.sorted {
            (features[$0].cluster?.pointCount ?? 0) > (features[$1].cluster?.pointCount ?? 0)
        }
        for place in bySize + (chosen.map { [$0] } ?? []) where features.indices.contains(place) {
            draw(features[place], isChosen: place == chosen, frame, on: &grid)
        }
    }

    private func draw(
        _ feature: Feature, isChosen: Bool, _ frame: PictureFrame, on grid: inout TerminalGrid
    ) {
        guard let cluster = feature.cluster else { return }
        let label = cluster.abbreviatedCount
        let centre = Self.snapped(
            frame.pixel(longitude: feature.longitude, latitude: feature.latitude), under: label)
        let radius = max(1.2, MarkerStyle.radius(count: cluster.pointCount) / MapCamera.pixelsOfDot)
        if isChosen { grid.disc(centre, radius: radius + 1, colour: MarkerStyle.white) }
        grid.disc(centre, radius: radius, colour: MarkerStyle.colour(count: cluster.pointCount))
        grid.text(label, at: centre, ink: MarkerStyle.ink)
    }

    /// The place nearest by at which a label sits in the very middle of a disc: between a character's two dots, and
    /// on a character or between two as the label's length wants it.
    static func snapped(_ place: PixelPoint, under label: String) -> PixelPoint {
        let isOdd = label.count % 2 == 1
        return PixelPoint(
            x: isOdd ? place.x.rounded(.down) + 0.5 : place.x.rounded(),
            y: (place.y / 2).rounded(.down) * 2 + 1)
    }

    /// Exactly as wide as the screen.
    func statusLine(source: String) -> String {
        let text = " \(source)  \(place)  \(counts)  \(message.isEmpty ? Self.help : message)"
        let cut = String(PrintableText.of(text).prefix(camera.columns))
        return cut + String(repeating: " ", count: max(0, camera.columns - cut.count))
    }

    private static let help = "arrows pan  + - zoom  tab choose  enter open  0 all  q quit"

    private var place: String {
        func rounded(_ degrees: Double) -> String { String(javaScript: (degrees * 100).rounded() / 100) }
        let latitude = rounded(Mercator.latitude(camera.centreY))
        return "zoom \(camera.zoom)  \(latitude), \(rounded(Mercator.longitude(camera.centreX)))"
    }

    private var counts: String {
        guard isLoaded else { return "loading" }
        let clusters = features.count { $0.cluster != nil }
        return "\(clusters) clusters, \(features.count - clusters) points"
    }
}
