// SPDX-License-Identifier: MIT
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Features of several points, lines and areas") struct GeometriesStateTests {
    /// Answers depend on the features alone, not on how they came.
    private static func options(_ geometries: String) -> String {
        #"{"geometries":"\#(geometries)","sortKey":["id"],"clusterIds":"origin","radius":20}"#
    }

    private static func feature(_ id: Int, _ type: String, _ coordinates: String, _ version: Int = 1) -> String {
        #"{"type":"Feature","id":\#(id),"properties":{"version":\#(version)},"geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
    }

    private static func square(_ x: Int, _ y: Int) -> String {
        "[[\(x),\(y)],[\(x + 4),\(y)],[\(x + 4),\(y + 2)],[\(x),\(y + 2)],[\(x),\(y)]]"
    }

    private static let collection =
        #"{"type":"Feature","id":7,"properties":{"version":1},"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[40,40]},{"type":"LineString","coordinates":[[50,50],[54,50]]}]}}"#

    private static func list(_ features: [String]) -> String { "[" + features.joined(separator: ",") + "]" }

    /// What another source shows that was given the same features at once.
    private static func expected(_ features: [String], _ geometries: String) throws -> String {
        let fresh = try KeptSources()
        try fresh.create(options: options(geometries)).load(list(features))
        return fresh.seen()
    }

    @Test("survive snapshots, journals, restarts, updates and compaction", arguments: ["centroid", "inside"])
    func everything(_ geometries: String) throws {
        let kept = try KeptSources()
        let first = [
            Self.feature(1, "MultiPoint", "[[0,0],[10,10],[20,20]]"),
            Self.feature(2, "Polygon", "[\(Self.square(30, 0))]"),
            Self.feature(3, "LineString", "[[-10,0],[-10,8],[-20,8]]"), Self.feature(4, "Point", "[-50.5,12]"),
            Self.feature(5, "MultiPolygon", "[[\(Self.square(-80, 20))],[\(Self.square(-60, 20))]]"),
            Self.feature(6, "MultiLineString", "[[[100,0],[102,0]],[[110,0],[118,4]]]"), Self.collection,
        ]
        try kept.create(options: Self.options(geometries)).load(Self.list(first))
        #expect(try kept.source().revision.pointCount == 9)
        let loaded = kept.seen()
        try kept.restart()
        #expect(kept.seen() == loaded)
        #expect(try kept.seen() == Self.expected(first, geometries))

        // One has fewer points than before, one more; one becomes an area, one a point.
        let changes = [
            Self.feature(1, "MultiPoint", "[[1,1],[11,11]]", 2),
            Self.feature(4, "MultiPoint", "[[-51,12],[-52,13]]", 2),
            Self.feature(3, "Polygon", "[\(Self.square(60, -30))]", 2), Self.feature(2, "Point", "[33,3]", 2),
            Self.feature(8, "LineString", "[[5,-40],[9,-40]]", 2),
        ]
        let outcome = try kept.source().change(upsert: Self.list(changes), remove: [5])
        #expect(outcome.updated == 4)
        #expect(outcome.inserted == 1)
        #expect(outcome.removed == 1)
        let after = changes + [first[5], first[6]]
        let expected = try Self.expected(after, geometries)
        #expect(try kept.source().revision.pointCount == 9)
        #expect(kept.seen() == expected)
        try kept.restart()
        #expect(kept.seen() == expected)

        // What is appended stands in the journal too, and all points of an id leave together.
        let more = [Self.feature(9, "MultiPoint", "[[70,70],[71,71],[72,72],[73,73]]")]
        try kept.source().load(Self.list(more), mode: .append)
        try kept.restart()
        #expect(try kept.seen() == Self.expected(after + more, geometries))
        try kept.source().change(remove: [9, 1])
        try kept.source().compact()
        let rest = Array(after.dropFirst())
        #expect(try kept.seen() == Self.expected(rest, geometries))
        try kept.restart()
        #expect(try kept.source().revision.pointCount == 7)
        #expect(try kept.seen() == Self.expected(rest, geometries))
        #expect(kept.reports.isEmpty)
    }

    @Test("positions that a feature gains stay with its other positions") func gainedPositions() throws {
        // Without a sort key the order of points decides which clusters form.
        let options = #"{"geometries":"multipoint","radius":60,"clusterIds":"origin"}"#
        let near = (0..<6).map { Self.feature(10 + $0, "Point", "[\(Double($0) * 9 + 4),0]") }
        let first = [Self.feature(1, "MultiPoint", "[[0,0],[10,0]]"), Self.feature(2, "Point", "[22,0]")] + near
        let kept = try KeptSources()
        try kept.create(options: options).load(Self.list(first))
        var grown = first
        for positions in ["[[0,0],[10,0],[17,0],[35,0]]", "[[1,0]]", "[[0,0],[12,0],[31,0]]"] {
            grown[0] = Self.feature(1, "MultiPoint", positions)
            try kept.source().change(upsert: Self.list([grown[0], Self.feature(20, "Point", "[50,1]")]))
            let fresh = try KeptSources()
            try fresh.create(options: options).load(Self.list(grown + [Self.feature(20, "Point", "[50,1]")]))
            #expect(kept.seen() == fresh.seen())
            try kept.restart()
            #expect(kept.seen() == fresh.seen())
        }
        #expect(kept.reports.isEmpty)
    }

    @Test("positions of equal ids that lie apart come together in the first one's place")
    func positionsThatLieApart() throws {
        let options = #"{"geometries":"multipoint","radius":60,"clusterIds":"origin"}"#
        let other = Self.feature(2, "Point", "[50,0]")
        let kept = try KeptSources()
        try kept.create(options: options).load(
            Self.list([Self.feature(1, "Point", "[0,0]"), other, Self.feature(1, "Point", "[80,0]")]))
        let update = Self.feature(1, "MultiPoint", "[[1,0],[85,0]]")
        let outcome = try kept.source().change(upsert: Self.list([update]))
        #expect(outcome.updated == 1)
        let fresh = try KeptSources()
        try fresh.create(options: options).load(Self.list([update, other]))
        #expect(kept.seen() == fresh.seen())
    }
}
