// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Testing

@testable import Rendering

@Suite("Pictures of maps")
struct PictureTests {
    private func feature(_ longitude: Double, _ latitude: Double, count: Int = 1, hull: String? = nil) throws
        -> Feature
    {
        let label = count < 1000 ? "\(count)" : "\"\(count / 1000)k\""
        let cluster = #""cluster":true,"cluster_id":5,"point_count":\#(count),"point_count_abbreviated":\#(label)"#
        let members = [count > 1 ? cluster : nil, hull.map { "\"hull\":\($0)" }].compactMap { $0 }
        let text = """
            {"type":"Feature","id":5,"geometry":{"type":"Point","coordinates":[\(longitude),\(latitude)]},\
            "properties":{\(members.joined(separator: ","))}}
            """
        return try #require(Feature(JSONReader.parse(text)))
    }

    private static let europe = BoundingBox(west: -12, south: 35, east: 32, north: 60)

    private func picture(width: Int = 800, height: Int = 600, isPlain: Bool = false) -> MapPicture {
        var picture = MapPicture(showing: Self.europe, width: width, height: height, isPlain: isPlain)
        picture.title = "Cities & <towns>"
        return picture
    }

    @Test("each format begins as its files do", arguments: PictureFormat.allCases)
    func formats(format: PictureFormat) throws {
        let bytes = try picture().draw([feature(10, 50), feature(20, 45, count: 120)], as: format)
        let start =
            switch format {
            case .png: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] as [UInt8]
            case .svg: Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ".utf8)
            case .pdf: Array("%PDF-1.".utf8)
            }
        #expect(bytes.starts(with: start))
        if format == .pdf { #expect(String(decoding: bytes, as: UTF8.self).contains("%%EOF")) }
    }

    @Test("an SVG is well-formed XML of the picture's size") func svg() throws {
        let bytes = try picture(width: 640, height: 480).draw([feature(10, 50, count: 1500)], as: .svg)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("width=\"640px\" height=\"480px\""))
        #expect(text.hasSuffix("</svg>\n"))
    }

    @Test("circles have the colour of their count, land is land and sea is sea") func colours() throws {
        let picture = picture()
        let image = try PNGPixels(
            picture.draw(
                [feature(-5, 58, count: 20), feature(5, 48, count: 200), feature(20, 55, count: 2000)], as: .png))
        func colour(_ longitude: Double, _ latitude: Double, dx: Double = 0, dy: Double = 0) -> Colour {
            let pixel = picture.frame.pixel(longitude: longitude, latitude: latitude)
            let map = picture.layout.map
            return image[Int(map.left + pixel.x + dx), Int(map.top + pixel.y + dy)]
        }
        func isNear(_ colour: Colour, _ other: Colour) -> Bool {
            zip([colour.red, colour.green, colour.blue], [other.red, other.green, other.blue]).allSatisfy {
                abs(Int($0) - Int($1)) < 24
            }
        }
        // Beside the count, which is in the middle.
        #expect(isNear(colour(-5, 58, dy: 10), MarkerStyle.colour(count: 20)))
        #expect(isNear(colour(5, 48, dy: 14), MarkerStyle.colour(count: 200)))
        #expect(isNear(colour(20, 55, dy: 16), MarkerStyle.colour(count: 2000)))
        #expect(isNear(colour(-3, 41), MarkerStyle.land))
        #expect(isNear(colour(-10.5, 47), MarkerStyle.sea))
    }

    @Test("the heat map is drawn above the circles") func heat() throws {
        var picture = picture(isPlain: true)
        let features = try [feature(10, 50, count: 500)]
        let middle = picture.frame.pixel(longitude: 10, latitude: 50)
        let cold = try PNGPixels(picture.draw(features, as: .png))[Int(middle.x), Int(middle.y) + 15]
        picture.showsHeat = true
        let hot = try PNGPixels(picture.draw(features, as: .png))[Int(middle.x), Int(middle.y) + 15]
        #expect(hot != cold)
        #expect(hot.red > hot.blue, "dense heat is red: \(hot)")
    }

    @Test("positions far outside and very small pictures are drawn without an error") func extremes() throws {
        let odd = try [feature(180, 90, count: 5), feature(-180, -90), feature(1e9, 50, count: 3)]
        for (width, height) in [(16, 16), (360, 300), (8192, 16)] {
            let bytes = try picture(width: width, height: height).draw(odd, as: .png)
            let image = try PNGPixels(bytes)
            #expect(image.width == width)
            #expect(image.height == height)
        }
    }

    @Test("hulls are drawn, also those that are lines or broken") func hulls() throws {
        var picture = picture(isPlain: true)
        picture.showsHulls = true
        let ring = #"{"type":"Polygon","coordinates":[[[0,45],[10,45],[10,50],[0,45]]]}"#
        let line = #"{"type":"LineString","coordinates":[[0,45],[10,50]]}"#
        let shown = try picture.draw([feature(8, 46.5, count: 2, hull: ring)], as: .png)
        let none = try picture.draw([feature(8, 46.5, count: 2)], as: .png)
        #expect(shown != none)
        for hull in [line, #"{"type":"Polygon"}"#, #"{"type":"Polygon","coordinates":[[["x"]]]}"#] {
            #expect(try !picture.draw([feature(8, 46.5, count: 2, hull: hull)], as: .png).isEmpty)
        }
    }

    @Test("heat grows with density") func ramp() {
        #expect(HeatRamp.colour(0).opacity == 0)
        #expect(HeatRamp.colour(0).colour == MarkerStyle.heat.first)
        #expect(HeatRamp.colour(1).colour == MarkerStyle.heat.last)
        #expect(HeatRamp.colour(7).colour == MarkerStyle.heat.last)
        #expect(HeatRamp.falloff(0) == 1)
        #expect(HeatRamp.falloff(1) == 0)
    }
}
