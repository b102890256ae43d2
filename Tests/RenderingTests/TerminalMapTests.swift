// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Testing

@testable import Rendering

@Suite("Terminal map") struct TerminalMapTests {
    @Test(
        "bytes become keys",
        arguments: [
            ("hjkl", [MapKey.west, .south, .north, .east]),
            ("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[D", [.north, .south, .east, .west]),
            ("+-=_", [.zoomIn, .zoomOut, .zoomIn, .zoomOut]), ("\r\t0q", [.open, .nextMarker, .wholeSource, .quit]),
            ("?\u{1B}[Z", [.help, .previousMarker]), ("\u{3}", [.quit]), ("x\u{1B}[1;5Aé", [.north]),
            ("\u{1B}\u{1B}[A", [.north]),
        ])
    func bytesBecomeKeys(text: String, keys: [MapKey]) {
        var whole = MapKeyDecoder()
        #expect(whole.decode(Array(text.utf8)) == keys)
        var drops = MapKeyDecoder()
        #expect(text.utf8.flatMap { drops.decode([$0]) } == keys)
    }

    @Test("the camera moves around the world, but not over the poles") func cameraWrapsButStopsAtPoles() {
        var camera = MapCamera(columns: 80, rows: 24)
        for _ in 0..<100 { camera.pan(right: 0.3, down: 0.4) }
        #expect((0..<1).contains(camera.centreX))
        #expect(camera.centreY == 1)
        camera.zoom(by: 100)
        #expect(camera.zoom == MapCamera.deepestZoom)
        camera.zoom(by: -100)
        #expect(camera.zoom == 0)
    }

    @Test("the camera looks at a box as close as it fits") func cameraFitsBox() {
        var camera = MapCamera(columns: 100, rows: 30)
        let box = BoundingBox(west: 5, south: 47, east: 16, north: 55)
        camera.look(at: box)
        for (longitude, latitude) in [(5.0, 47.0), (16, 55)] {
            let pixel = camera.frame.pixel(longitude: longitude, latitude: latitude)
            #expect(pixel.x >= 0)
            #expect(pixel.x <= 100)
            #expect(pixel.y >= 0)
            #expect(pixel.y <= 60)
        }
        let side = camera.frame.worldSide
        #expect(Double(11) / 360 * side * 2 > 100 || (Mercator.y(47) - Mercator.y(55)) * side * 2 > 60)
    }

    @Test("dots are half characters") func dotsAreHalfCharacters() {
        var grid = TerminalGrid(columns: 3, rows: 2)
        grid.disc(PixelPoint(x: 0.5, y: 0.5), radius: 0.6, colour: Colour(0xFF0000))
        grid.disc(PixelPoint(x: 1.5, y: 3.5), radius: 0.6, colour: Colour(0x0000FF))
        grid.text("12", at: PixelPoint(x: 3, y: 0), ink: Colour(0))
        #expect(grid.lines(.none) == ["▀ 1", " ▄ "])
        #expect(grid.lines(.full)[1] == " \u{1B}[38;2;0;0;255m▄\u{1B}[0m ")
        #expect(grid.lines(.indexed)[1] == " \u{1B}[38;5;21m▄\u{1B}[0m ")
    }

    @Test("what lies outside the grid is left out") func clipsToGrid() {
        var grid = TerminalGrid(columns: 4, rows: 2)
        grid.disc(PixelPoint(x: 1e300, y: -1e300), radius: 5, colour: Colour(0))
        grid.text("long text", at: PixelPoint(x: 0, y: 1), ink: Colour(0))
        grid.text("x", at: PixelPoint(x: .nan, y: 1), ink: Colour(0))
        grid.text("x", at: PixelPoint(x: 1, y: 400), ink: Colour(0))
        #expect(grid.lines(.none).map(\.count) == [4, 4])
    }

    @Test("a label sits in the middle of its disc", arguments: ["7", "12", "1.2k"])
    func aLabelSitsInTheMiddleOfItsDisc(label: String) {
        var grid = TerminalGrid(columns: 11, rows: 5)
        let centre = TerminalMap.snapped(PixelPoint(x: 5.3, y: 4.2), under: label)
        grid.disc(centre, radius: 3, colour: Colour(0))
        grid.text(label, at: centre, ink: Colour(0xFFFFFF))
        let lines = grid.lines(.none).map { String($0.reversed().drop { $0 == " " }.reversed()) }
        let row = lines[2].drop { $0 == " " }
        let before = row.prefix { $0 == "█" }.count
        #expect(row == String(repeating: "█", count: before) + label + String(repeating: "█", count: before))
        #expect(lines[1] == lines[3].replacing("▀", with: "▄") || lines[1] == lines[3])
    }

    private func marker(_ key: String, _ longitude: Double, count: Int = 2) throws -> Marker {
        let text = """
            {"type":"Feature","id":5,"key":"\(key)","geometry":{"type":"Point","coordinates":[\(longitude),0]},\
            "properties":{"cluster":true,"cluster_id":5,"point_count":\(count),"point_count_abbreviated":\(count)}}
            """
        return try #require(Marker(JSONReader.parse(text)))
    }

    @Test("the selected marker stays selected while it is there") func keepsSelection() throws {
        var map = TerminalMap(camera: MapCamera(columns: 80, rows: 24))
        try map.show([marker("a", 5), marker("b", 40)], keepingSelection: false)
        #expect(map.selectedFeature?.longitude == 5)
        map.select()
        #expect(map.selectedFeature?.longitude == 40)
        try map.show([marker("0", 1), marker("b", 40)], keepingSelection: true)
        #expect(map.selectedFeature?.longitude == 40)
        try map.show([marker("0", 1), marker("c", 40)], keepingSelection: true)
        #expect(map.selectedFeature?.longitude == 1)
        map.select()
        try map.show([marker("0", 1), marker("c", 40)], keepingSelection: false)
        #expect(map.selectedFeature?.longitude == 1)
        map.show([], keepingSelection: true)
        #expect(map.selectedFeature == nil)
    }

    /// What a terminal shows of a line.
    private func visible(_ line: String) -> String {
        var (text, isCode) = ("", false)
        for character in line {
            if character == "\u{1B}" { isCode = true } else if !isCode { text.append(character) }
            if isCode, character.isLetter { isCode = false }
        }
        return text
    }

    @Test(
        "every line is as wide as the screen",
        arguments: [(10, 5), (80, 24), (300, 70)], [TerminalPalette.none, .indexed, .full])
    func linesFitTheScreen(size: (columns: Int, rows: Int), palette: TerminalPalette) throws {
        var map = TerminalMap(
            camera: MapCamera(columns: size.columns, rows: size.rows - TerminalMap.otherLines))
        for overlay in [TerminalMap.Overlay.none, .help, .properties] {
            try map.show([marker("a", 5, count: 1234), point("b", 6)], keepingSelection: false)
            map.select()
            map.overlay = overlay
            let lines = map.lines(source: "cities", palette: palette).map(visible)
            #expect(lines.count == size.rows)
            #expect(lines.allSatisfy { DisplayWidth.of($0) == size.columns }, "\(lines)")
        }
    }

    private func point(_ key: String, _ longitude: Double, name: String = "東京 \u{7}") throws -> Marker {
        let text = """
            {"type":"Feature","id":7,"key":"\(key)","geometry":{"type":"Point","coordinates":[\(longitude),0]},\
            "properties":{"name":\(JSONValue.string(name).text),"people":1200}}
            """
        return try #require(Marker(JSONReader.parse(text)))
    }

    @Test("the selected marker is named, and a point's properties can be shown") func selection() throws {
        var map = TerminalMap(camera: MapCamera(columns: 80, rows: 21))
        try map.show([point("a", 0, name: "Oran"), marker("b", 40)], keepingSelection: false)
        #expect(map.selection == "▸ Oran  0°N 0°E  name=Oran  people=1200")
        map.overlay = .properties
        let lines = map.lines(source: "cities", palette: .none)
        #expect(lines.contains { $0.contains("┌─Oran") })
        #expect(lines.contains { $0.contains("│ people    1200") })
        map.select()
        #expect(map.selection == "▸ cluster of 2 points  0°N 40°E  id 5")
    }

    @Test("the map shows land, the graticule's labels and the legend") func ground() {
        let map = TerminalMap(camera: MapCamera(columns: 80, rows: 21))
        let lines = map.lines(source: "cities", palette: .none)
        #expect(lines.contains { $0.contains("····") })
        #expect(lines.contains { $0.contains("90°W") })
        #expect(lines.contains { $0.hasPrefix("0°") })
        #expect(visible(map.lines(source: "c", palette: .full)[0]).contains("● 1 ● 2+ ● 100+ ● 750+"))
    }

    @Test("known places are land and sea") func land() {
        let frame = PictureFrame(
            showing: BoundingBox(west: -180, south: -80, east: 180, north: 80), width: 360, height: 300)
        let raster = LandRaster(frame)
        func ground(_ longitude: Double, _ latitude: Double) -> LandRaster.Ground {
            let pixel = frame.pixel(longitude: longitude, latitude: latitude)
            return raster[Int(pixel.x), Int(pixel.y)]
        }
        for (longitude, latitude) in [(25.0, 0.0), (134, -25), (-55, -10)] {
            #expect(ground(longitude, latitude) != .sea)
        }
        for (longitude, latitude) in [(-30.0, 0.0), (-150, -40), (80, -40)] {
            #expect(ground(longitude, latitude) == .sea)
        }
    }
}
