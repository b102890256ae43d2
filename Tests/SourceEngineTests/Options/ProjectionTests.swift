// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("The option projection") struct ProjectionTests {
    private static let plan = #"{"projection":{"planar":[0,0,2000,1000]},"radius":10,"maxZoom":8}"#

    @Test(
        "is read, written back, and rejected if it is not a box",
        arguments: [
            (#""flat""#, "options.projection"), (#"{"planar":[0,0,1]}"#, "options.projection.planar"),
            (#"{"planar":[0,0,"1",1]}"#, "options.projection.planar[2]"),
            (#"{"planar":[5,0,5,1]}"#, "options.projection.planar[2]"),
            (#"{"planar":[0,2,5,1]}"#, "options.projection.planar[3]"),
            (#"{"planar":[0,0,1,1],"more":1}"#, "options.projection"),
        ])
    func options(_ text: String, _ path: String) throws {
        let options = try SourceOptions(reading: JSONReader.parse(Self.plan))
        #expect(try SourceOptions(reading: options.json).projection == options.projection)
        #expect(options.json.text.contains(#""projection":{"planar":[0,0,2000,1000]}"#))
        #expect(try !SourceOptions(reading: nil).json.text.contains("projection"))
        #expect {
            try SourceOptions(reading: JSONReader.parse(#"{"projection":\#(text)}"#))
        } throws: { "\($0)".contains(path) }
    }

    @Test("a point outside the box is an invalid feature, one on its edge is not") func outside() throws {
        let test = try TestSource(options: Self.plan)
        #expect(throws: SourceError.self) { try test.load(list(point(1, 2000.5, 3))) }
        let outcome = try test.load(
            list(point(1, 0, 0), point(2, 2000, 1000), point(3, -1, 5), point(4, 5, 1001)), policy: .skip)
        #expect(outcome.skipped == 2)
        #expect(test.source.revision.pointCount == 2)
        #expect(throws: SourceError.self) { try test.update(upsert: list(point(5, 3000, 1))) }
    }

    @Test("answers, tiles, extents and hulls use the plane's units") func answers() throws {
        let test = try TestSource(options: Self.plan)
        try test.load(
            list(point(1, 100, 100), point(2, 104, 100), point(3, 104, 106), point(4, 100, 106), point(5, 1990, 990)))
        let box = Box(west: 0, south: 0, east: 2000, north: 1000)
        var query = ClustersQuery(box: box, zoom: 0)
        query.output.include = [.bounds, .hull, .anchor]
        let answer = try test.clusters(query)
        #expect(answer.pointCounts == [4])
        let cluster = answer.features.first {
            $0["id"] != nil && ($0["properties"] as? [String: Any])?["cluster"] != nil
        }
        let geometry = try #require(cluster?["geometry"] as? [String: Any])
        let centre = try #require(geometry["coordinates"] as? [Double])
        #expect(abs(centre[0] - 102) < 0.01 && abs(centre[1] - 103) < 0.01)
        #expect(answer.text.contains(#""bbox":[100,100,104,106]"#))
        #expect(answer.text.contains("[[[100,100],[104,100],[104,106],[100,106],[100,100]]]"))
        #expect(test.source.revision.bounds == Box(west: 100, south: 100, east: 1990, north: 990))
        // The longer side is one tile, and the largest y is its top.
        let tile = try #require(TileAddress(z: 0, x: 0, y: 0))
        let features = test.source.revision.tileFeatures(tile, of: test.source.revision.view)
        #expect(features.contains { $0.x == 509 && $0.y == 3 })
        let far = try #require(TileAddress(z: 1, x: 1, y: 0))
        #expect(test.source.revision.tileFeatures(far, of: test.source.revision.view).count == 1)
        #expect(throws: SourceError.self) {
            try test.clusters(ClustersQuery(box: Box(west: 9, south: 0, east: 8, north: 9), zoom: 0))
        }
        #expect(test.source.revision.view.expectedNodes(in: box, zoom: 0) >= 2)
    }

    @Test("updates are applied in place, and new options require valid positions") func updates() throws {
        let test = try TestSource(options: Self.plan)
        try test.load(list(point(1, 10, 10), point(2, 500, 900)))
        _ = try test.update(upsert: list(point(2, 12, 11), point(3, 1500, 20)))
        let revision = test.source.revision
        #expect(revision.bounds == Box(west: 10, south: 10, east: 1500, north: 20))
        let mercator = try SourceOptions(reading: JSONReader.parse("{}"))
        #expect(throws: SourceError.self) { try test.source.update(options: mercator, .never) }
        let wider = try SourceOptions(
            reading: JSONReader.parse(#"{"projection":{"planar":[-5,-5,5000,5000]}}"#))
        _ = try test.source.update(options: wider, .never)
        #expect(test.source.revision.pointCount == 3)
    }
}
