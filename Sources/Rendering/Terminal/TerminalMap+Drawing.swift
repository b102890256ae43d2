// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

extension TerminalMap {
    /// The screen's lines, each as wide as the screen: the title, the map, the selected marker, the keys.
    func lines(source: String, palette: TerminalPalette) -> [String] {
        var grid = TerminalGrid(columns: camera.columns, rows: camera.rows)
        draw(on: &grid)
        return [titleLine(source: source, palette)] + grid.lines(palette)
            + [line(selection), "\u{1B}[7m" + line(message.isEmpty ? Self.keyHints : message) + "\u{1B}[0m"]
    }

    private func draw(on grid: inout TerminalGrid) {
        let frame = camera.frame
        drawGround(frame, on: &grid)
        let discs = drawMarkers(frame, on: &grid)
        drawGraticuleLabels(Graticule(frame), on: &grid)
        drawCounts(discs, on: &grid)
        switch overlay {
        case .none: break
        case .help: TerminalPanel.help.draw(on: &grid)
        case .properties: selectedFeature.map { TerminalPanel(of: $0, camera.projection).draw(on: &grid) }
        }
    }

    // MARK: Ground

    private func drawGround(_ frame: PictureFrame, on grid: inout TerminalGrid) {
        let land = LandRaster(frame)
        for row in 0..<frame.height {
            for column in 0..<frame.width {
                switch land[column, row] {
                case .sea: break
                case .land: grid.setGround(column: column, row: row, TerminalStyle.land)
                case .border: grid.setGround(column: column, row: row, TerminalStyle.border)
                }
            }
        }
        let graticule = Graticule(frame)
        for meridian in graticule.meridians {
            for row in 0..<camera.rows {
                grid.text("┊", row: row, column: Int(meridian.position), ink: TerminalStyle.graticule)
            }
        }
        for parallel in graticule.parallels {
            for column in 0..<camera.columns {
                grid.text("┈", row: Int(parallel.position) / 2, column: column, ink: TerminalStyle.graticule)
            }
        }
    }

    /// Draws labels at the map's lower and left edges, unless a marker is there.
    private func drawGraticuleLabels(_ graticule: Graticule, on grid: inout TerminalGrid) {
        func write(_ text: String, row: Int, column: Int) {
            guard grid.isFree(row: row, columns: column..<column + text.count) else { return }
            grid.text(text, row: row, column: column, ink: TerminalStyle.label)
        }
        for parallel in graticule.parallels {
            write(parallel.label, row: Int(parallel.position) / 2, column: 0)
        }
        for meridian in graticule.meridians {
            let column = Int(meridian.position) - meridian.label.count / 2
            guard column >= 7, column + meridian.label.count <= camera.columns else { continue }
            write(meridian.label, row: camera.rows - 1, column: column)
        }
    }

    // MARK: Markers

    /// A cluster's circle and its count.
    private struct CountedDisc {
        let centre: PixelPoint
        let label: String
        let isSelected: Bool
    }

    /// Draws points, then circles from the largest to the smallest, the selected one last. Returns the
    /// circles from the last drawn to the first.
    private func drawMarkers(_ frame: PictureFrame, on grid: inout TerminalGrid) -> [CountedDisc] {
        for (index, feature) in features.enumerated() where feature.cluster == nil {
            let position = pixel(self.position(of: index), frame)
            let isSelected = index == selected
            if isSelected { grid.disc(position, radius: 1.2, colour: TerminalStyle.selection) }
            grid.text("●", at: position, ink: isSelected ? MarkerStyle.ink : MarkerStyle.point)
        }
        for (feature, position) in slide?.leaving ?? [] {
            drawLeaving(feature, pixel(position, frame), on: &grid)
        }
        var discs: [CountedDisc] = []
        let clusters = features.indices.filter { features[$0].cluster != nil }.sorted { one, other in
            let counts = (features[one].cluster?.pointCount ?? 0, features[other].cluster?.pointCount ?? 0)
            return (one == selected ? 1 : 0, -counts.0) < (other == selected ? 1 : 0, -counts.1)
        }
        for index in clusters {
            guard let cluster = features[index].cluster else { continue }
            let centre = Self.snapped(pixel(position(of: index), frame), under: cluster.abbreviatedCount)
            let radius = Self.radius(cluster)
            if index == selected {
                grid.disc(centre, radius: radius + 1, colour: TerminalStyle.selection)
            }
            grid.disc(centre, radius: radius, colour: MarkerStyle.colour(count: cluster.pointCount))
            discs.append(CountedDisc(centre: centre, label: cluster.abbreviatedCount, isSelected: index == selected))
        }
        return discs.reversed()
    }

    /// Draws a marker that has disappeared below the existing ones, without its count.
    private func drawLeaving(_ feature: Feature, _ position: PixelPoint, on grid: inout TerminalGrid) {
        guard let cluster = feature.cluster else {
            return grid.text("●", at: position, ink: MarkerStyle.point)
        }
        grid.disc(
            position, radius: Self.radius(cluster), colour: MarkerStyle.colour(count: cluster.pointCount))
    }

    private func pixel(_ position: MarkerSlide.Position, _ frame: PictureFrame) -> PixelPoint {
        frame.pixel(longitude: position.longitude, latitude: position.latitude)
    }

    private static func radius(_ cluster: Feature.Cluster) -> Double {
        max(1.2, MarkerStyle.radius(count: cluster.pointCount) / MapCamera.pixelsOfDot)
    }

    /// Writes the counts above all circles, beginning with the last circle; a count that would run into
    /// another is left out.
    private func drawCounts(_ discs: [CountedDisc], on grid: inout TerminalGrid) {
        var written: [Int: [Range<Int>]] = [:]
        for disc in discs {
            guard let (row, columns) = TerminalGrid.cells(of: disc.label, at: disc.centre),
                !(written[row] ?? []).contains(where: { $0.overlaps(columns) })
            else { continue }
            written[row, default: []].append(columns)
            grid.text(disc.label, row: row, column: columns.lowerBound, ink: MarkerStyle.ink)
        }
    }

    /// The nearest position at which a label is exactly in the middle of a disc: vertically between a
    /// character's two dots, and horizontally on a character or between two, depending on the label's length.
    static func snapped(_ position: PixelPoint, under label: String) -> PixelPoint {
        let isOdd = label.count % 2 == 1
        return PixelPoint(
            x: isOdd ? position.x.rounded(.down) + 0.5 : position.x.rounded(),
            y: (position.y / 2).rounded(.down) * 2 + 1)
    }
}

extension TerminalMap {
    static let keyHints = "arrows move  + - zoom  tab select  enter open  0 all  ? help  q quit"

    /// The source and a summary of what is shown, then the legend if there is room.
    func titleLine(source: String, _ palette: TerminalPalette) -> String {
        let text = "\(source)  \(counts)  zoom \(camera.zoom)  \(position)"
        let legend = Self.legend
        let width = legend.reduce(0) { $0 + DisplayWidth.of($1.text) + 3 }
        guard palette != .none, DisplayWidth.of(text) + width + 2 <= camera.columns else { return line(text) }
        let room = camera.columns - width - 1
        let title = DisplayWidth.truncate(PrintableText.of(text), to: room)
        let coloured = legend.map { entry in
            palette.foreground(entry.colour) + "●\u{1B}[0m \(entry.text) "
        }
        return " \u{1B}[1m" + title + "\u{1B}[0m"
            + String(repeating: " ", count: room - DisplayWidth.of(title))
            + coloured.joined()
    }

    /// The meaning of the colours.
    private static let legend: [(colour: Colour, text: String)] =
        [(MarkerStyle.point, "1")] + MarkerStyle.steps.map { ($0.colour, "\($0.count)+") }

    /// The selected marker's name and properties.
    var selection: String {
        guard let feature = selectedFeature else { return isLoaded ? "nothing here" : "" }
        var text = "▸ \(MarkerName.of(feature))  \(MarkerName.position(feature, camera.projection))"
        if feature.cluster != nil { text += "  id \(feature.cluster?.id ?? 0)" }
        let own = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]
        for (key, value) in feature.properties.members where feature.cluster == nil || !own.contains(key) {
            text += "  \(key)=\(value.asString ?? value.text)"
        }
        return text
    }

    /// A text after a space, truncated or padded to the screen's width.
    func line(_ text: String) -> String {
        let cut = DisplayWidth.truncate(" " + PrintableText.of(text), to: camera.columns)
        return cut + String(repeating: " ", count: max(0, camera.columns - DisplayWidth.of(cut)))
    }

    private var position: String {
        MarkerName.position(
            latitude: camera.projection.latitude(camera.centreY),
            longitude: camera.projection.longitude(camera.centreX), camera.projection)
    }

    private var counts: String {
        guard isLoaded else { return "loading" }
        let clusters = features.count { $0.cluster != nil }
        let points = features.count - clusters
        return "\(clusters) cluster\(clusters == 1 ? "" : "s"), \(points) point\(points == 1 ? "" : "s")"
    }
}
