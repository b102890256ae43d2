// SPDX-License-Identifier: MIT
import Compression
import Foundation
import Testing

@testable import HTTPServer

@Suite("The ground's tiles") struct GroundTilesTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("web/ground/ground.pmtiles")

    private func archive() throws -> [UInt8] { Array(try Data(contentsOf: Self.file)) }

    @Test("all zooms have land, and a tile begins with a layer's name") func tilesOfAllZooms() throws {
        let tiles = try #require(GroundTiles(archive()))
        // The column and row of Switzerland at each zoom.
        for (zoom, x, y) in [(0, 0, 0), (1, 1, 0), (2, 2, 1), (3, 4, 2), (4, 8, 5)] {
            let tile = try #require(tiles.tile(GroundPlace(zoom: zoom, x: x, y: y)), "\(zoom)/\(x)/\(y)")
            let content = try Zlib.inflate(Array(tile), format: .gzip, limit: 1 << 20)
            #expect(Data(content).range(of: Data("land".utf8)) != nil, "\(zoom)/\(x)/\(y)")
        }
    }

    @Test("the sea and what is outside the world have no tile") func emptyTiles() throws {
        let tiles = try #require(GroundTiles(archive()))
        for place in [(4, 0, 9), (5, 0, 0), (0, 1, 0), (2, -1, 0), (-1, 0, 0), (3, 0, 8)] {
            #expect(tiles.tile(GroundPlace(zoom: place.0, x: place.1, y: place.2)) == nil, "\(place)")
        }
    }

    @Test("a damaged archive gives no tiles instead of a trap") func damage() throws {
        let whole = try archive()
        for length in [0, 6, 126, 127, 400] { #expect(GroundTiles(Array(whole[..<length])) == nil) }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var bytes = Array(whole[..<4096])
            for _ in 0..<8 {
                bytes[Int.random(in: 8..<2048, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let tiles = GroundTiles(bytes) else { continue }
            for x in 0..<4 { for y in 0..<4 { _ = tiles.tile(GroundPlace(zoom: 2, x: x, y: y)) } }
        }
    }
}
