// SPDX-License-Identifier: MIT
import ClusterClient

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

    /// Draws points, then circles from the largest to the smallest, the selected one last. Returns the circles
    /// from the last drawn to the first.
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
            discs.append(
                CountedDisc(centre: centre, label: cluster.abbreviatedCount, isSelected: index == selected))
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

    /// Writes the counts above all circles, beginning with the last circle; a count that would run into another
    /// is left out.
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

    /// The nearest position at which a label is exactly in the middle of a disc: vertically between a character's
    /// two dots, and horizontally on a character or between two, depending on the label's length.
    static func snapped(_ position: PixelPoint, under label: String) -> PixelPoint {
        let isOdd = label.count % 2 == 1
        return PixelPoint(
            x: isOdd ? position.x.rounded(.down) + 0.5 : position.x.rounded(),
            y: (position.y / 2).rounded(.down) * 2 + 1)
    }
}
