// SPDX-License-Identifier: MIT
import ClusterClient
import Compression
import JSON
import Testing

@testable import Rendering

@Suite struct PictureTests {
    @Test(arguments: [
        BoundingBox(west: -10, south: 35, east: 30, north: 60),
        BoundingBox(west: 170, south: -50, east: -160, north: -10),
        BoundingBox(west: -180, south: -75, east: 180, north: 82),
    ])
    func aFrameShowsTheWholeBox(box: BoundingBox) {
        let frame = PictureFrame(showing: box, width: 800, height: 600)
        let middle = box.west < box.east ? (box.west + box.east) / 2 : -175
        for latitude in [box.south, box.north] {
            let pixel = frame.pixel(longitude: middle, latitude: latitude)
            #expect(abs(pixel.x - 400) < 1e-6)
            #expect(pixel.y >= -1e-6 && pixel.y <= 600 + 1e-6)
        }
        let width = (box.east - box.west + (box.west > box.east ? 360 : 0)) / 360 * frame.worldSide
        #expect(width <= 800 + 1e-6)
    }

    @Test func aFramesBoxCrossesTheAntimeridian() {
        let box = BoundingBox(west: 170, south: -50, east: -160, north: -10)
        let seen = PictureFrame(showing: box, width: 300, height: 900).box
        #expect(abs(seen.west - 170) < 1e-9)
        #expect(abs(seen.east + 160) < 1e-9)
    }

    @Test func aPlaceIsAFrame() {
        let frame = PictureFrame(
            showing: BoundingBox(west: 5, south: 50, east: 5, north: 50), width: 64, height: 64)
        #expect(frame.worldSide.isFinite)
        #expect(abs(frame.pixel(longitude: 5, latitude: 50).x - 32) < 1e-6)
    }

    @Test func aLineAcrossTheAntimeridianStaysWhole() {
        let frame = PictureFrame(
            showing: BoundingBox(west: 170, south: -10, east: -170, north: 10), width: 200, height: 200)
        let pixels = frame.pixels([(179, 0), (-179, 0)])
        #expect(abs(pixels[1].x - pixels[0].x - frame.worldSide / 180) < 1e-6)
    }

    @Test func aCircleIsFullInsideAndSoftAtItsEdge() {
        var canvas = RasterCanvas(width: 40, height: 40)
        canvas.circle(PixelPoint(x: 20, y: 20), radius: 10.25, colour: Colour(0), opacity: 1)
        func red(_ x: Int, _ y: Int) -> UInt8 { canvas.pixels[(y * 40 + x) * 3] }
        #expect(red(20, 20) == 0)
        #expect(red(5, 5) == MarkerStyle.paper.red)
        #expect(red(30, 20) > 0 && red(30, 20) < MarkerStyle.paper.red)
    }

    @Test func shapesOutsideThePictureAreLeftOut() {
        var canvas = RasterCanvas(width: 16, height: 16)
        let empty = canvas.pixels
        canvas.circle(PixelPoint(x: -1e300, y: 5), radius: 3, colour: Colour(0), opacity: 1)
        canvas.circle(PixelPoint(x: 5, y: .nan), radius: 3, colour: Colour(0), opacity: 1)
        canvas.label("12", at: PixelPoint(x: 500, y: 500), height: 10, colour: Colour(0))
        canvas.polygon([], colour: Colour(0), opacity: 1)
        #expect(canvas.pixels == empty)
    }

    @Test func aPolygonIsFilledByItsInsideOnly() {
        var canvas = RasterCanvas(width: 30, height: 30)
        let corners = [(5.0, 5.0), (25, 5), (25, 25), (15, 10), (5, 25)].map { PixelPoint(x: $0.0, y: $0.1) }
        canvas.polygon(corners, colour: Colour(0), opacity: 1)
        #expect(canvas.pixels[(7 * 30 + 15) * 3] == 0)
        #expect(canvas.pixels[(20 * 30 + 15) * 3] == MarkerStyle.paper.red)
    }

    @Test func aPNGHoldsThePixels() throws {
        let pixels = (0..<(7 * 5 * 3)).map { UInt8(truncatingIfNeeded: $0 * 37) }
        let file = try PNG.encode(pixels, width: 7, height: 5)
        #expect(Array(file.prefix(8)) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var rest = file.dropFirst(8)
        var types: [String] = []
        var image: [UInt8] = []
        while !rest.isEmpty {
            func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
            let length = number(rest.prefix(4))
            let checked = Array(rest.dropFirst(4).prefix(4 + length))
            #expect(
                number(rest.dropFirst(8 + length).prefix(4))
                    == Int(checked.withUnsafeBytes { Zlib.crc32($0) }))
            types.append(String(decoding: checked.prefix(4), as: UTF8.self))
            if types.last == "IDAT" { image += checked.dropFirst(4) }
            rest = rest.dropFirst(12 + length)
        }
        #expect(types == ["IHDR", "IDAT", "IEND"])
        let rows = try Zlib.inflate(image, format: .zlib, limit: 1000)
        var previous = [UInt8](repeating: 0, count: 21)
        var read: [UInt8] = []
        for start in stride(from: 0, to: rows.count, by: 22) {
            let row = rows[(start + 1)..<(start + 22)]
            previous = zip(row, previous).map { rows[start] == 2 ? $0 &+ $1 : $0 }
            read += previous
        }
        #expect(read == pixels)
    }

    @Test(arguments: Array("0123456789.kM"))
    func everyCharacterOfACountHasAGlyphWithinItsLine(character: Character) {
        let strokes = StrokeFont.strokes(String(character), at: PixelPoint(x: 50, y: 50), height: 12)
        #expect(!strokes.isEmpty)
        for point in strokes.flatMap({ $0 }) {
            #expect(point.y > 43 && point.y < 57)
            #expect(point.x > 40 && point.x < 60)
        }
    }

    @Test func anSVGIsMadeOfTheSameShapes() {
        var canvas = SVGCanvas(width: 100, height: 50)
        canvas.circle(PixelPoint(x: 1.234, y: 2), radius: 3, colour: Colour(0x51BBD6), opacity: 0.5)
        canvas.label("<&>", at: PixelPoint(x: 5, y: 5), height: 7.2, colour: Colour(0))
        let text = String(decoding: canvas.finish(), as: UTF8.self)
        #expect(text.contains("<circle cx=\"1.23\" cy=\"2\" r=\"3\" fill=\"#51bbd6\" fill-opacity=\"0.5\"/>"))
        #expect(text.contains(">&lt;&amp;&gt;</text>"))
        #expect(!text.contains("<defs>"))
        #expect(text.hasSuffix("</svg>\n"))
    }

    @Test func heatGrowsWithDensity() {
        #expect(HeatRamp.colour(0).opacity == 0)
        #expect(HeatRamp.colour(0).colour == MarkerStyle.heat.first)
        #expect(HeatRamp.colour(1).colour == MarkerStyle.heat.last)
        #expect(HeatRamp.colour(7).colour == MarkerStyle.heat.last)
        #expect(HeatRamp.fall(0) == 1)
        #expect(HeatRamp.fall(1) == 0)
    }
}
