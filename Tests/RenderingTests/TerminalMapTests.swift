// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Testing

@testable import Rendering

@Suite struct TerminalMapTests {
    @Test(arguments: [
        ("hjkl", [MapKey.west, .south, .north, .east]),
        ("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[D", [.north, .south, .east, .west]),
        ("+-=_", [.zoomIn, .zoomOut, .zoomIn, .zoomOut]),
        ("\r\t0q", [.open, .nextCluster, .wholeSource, .quit]),
        ("\u{3}", [.quit]), ("x\u{1B}[1;5Aé", [.north]), ("\u{1B}\u{1B}[A", [.north]),
    ])
    func bytesBecomeKeys(text: String, keys: [MapKey]) {
        var whole = MapKeyDecoder()
        #expect(whole.decode(Array(text.utf8)) == keys)
        var drops = MapKeyDecoder()
        #expect(text.utf8.flatMap { drops.decode([$0]) } == keys)
    }

    @Test func theCameraGoesRoundTheWorldButNotOverThePoles() {
        var camera = MapCamera(columns: 80, rows: 24)
        for _ in 0..<100 { camera.pan(right: 0.3, down: 0.4) }
        #expect((0..<1).contains(camera.centreX))
        #expect(camera.centreY == 1)
        camera.zoom(by: 100)
        #expect(camera.zoom == MapCamera.deepestZoom)
        camera.zoom(by: -100)
        #expect(camera.zoom == 0)
    }

    @Test func theCameraLooksAtABoxAsCloseAsItFits() {
        var camera = MapCamera(columns: 100, rows: 30)
        let box = BoundingBox(west: 5, south: 47, east: 16, north: 55)
        camera.look(at: box)
        for (longitude, latitude) in [(5.0, 47.0), (16, 55)] {
            let pixel = camera.frame.pixel(longitude: longitude, latitude: latitude)
            #expect(pixel.x >= 0 && pixel.x <= 100 && pixel.y >= 0 && pixel.y <= 60)
        }
        let side = camera.frame.worldSide
        #expect(Double(11) / 360 * side * 2 > 100 || (Mercator.y(47) - Mercator.y(55)) * side * 2 > 60)
    }

    @Test func dotsAreHalfCharacters() {
        var grid = TerminalGrid(columns: 3, rows: 2)
        grid.disc(PixelPoint(x: 0.5, y: 0.5), radius: 0.6, colour: Colour(0xFF0000))
        grid.disc(PixelPoint(x: 1.5, y: 3.5), radius: 0.6, colour: Colour(0x0000FF))
        grid.text("12", at: PixelPoint(x: 3, y: 0), ink: Colour(0))
        #expect(grid.lines(.none) == ["▀ 1", " ▄ "])
        #expect(grid.lines(.full)[1] == " \u{1B}[0m\u{1B}[38;2;0;0;255m▄\u{1B}[0m ")
        #expect(grid.lines(.indexed)[1] == " \u{1B}[0m\u{1B}[38;5;21m▄\u{1B}[0m ")
    }

    @Test func whatLiesOutsideTheGridIsLeftOut() {
        var grid = TerminalGrid(columns: 4, rows: 2)
        grid.disc(PixelPoint(x: 1e300, y: -1e300), radius: 5, colour: Colour(0))
        grid.text("long text", at: PixelPoint(x: 0, y: 1), ink: Colour(0))
        grid.text("x", at: PixelPoint(x: .nan, y: 1), ink: Colour(0))
        grid.text("x", at: PixelPoint(x: 1, y: 400), ink: Colour(0))
        #expect(grid.lines(.none).map(\.count) == [4, 4])
    }

    @Test(arguments: ["7", "12", "1.2k"]) func aLabelSitsInTheMiddleOfItsDisc(label: String) {
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

    @Test func theChosenClusterStaysChosenWhileItIsThere() throws {
        var map = TerminalMap(camera: MapCamera(columns: 80, rows: 24))
        try map.show([marker("a", 5), marker("b", 40)], keepingChoice: false)
        #expect(map.chosenFeature?.longitude == 5)
        map.chooseNext()
        #expect(map.chosenFeature?.longitude == 40)
        try map.show([marker("0", 1), marker("b", 40)], keepingChoice: true)
        #expect(map.chosenFeature?.longitude == 40)
        try map.show([marker("0", 1), marker("c", 40)], keepingChoice: true)
        #expect(map.chosenFeature?.longitude == 1)
        map.chooseNext()
        try map.show([marker("0", 1), marker("c", 40)], keepingChoice: false)
        #expect(map.chosenFeature?.longitude == 1)
        map.show([], keepingChoice: true)
        #expect(map.chosenFeature == nil)
    }

    @Test(arguments: [10, 80, 300]) func theStatusLineIsAsWideAsTheScreen(columns: Int) {
        let map = TerminalMap(camera: MapCamera(columns: columns, rows: 5))
        #expect(map.statusLine(source: "cities").count == columns)
        #expect(map.lines(source: "cities", palette: .none).count == 6)
    }
}
