// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

/// A client and the daemon's idea of what it has.
struct Watcher {
    let source: TestSource
    var query: ClustersQuery
    var filter: String?
    private(set) var replay = MarkerReplay()
    private var table = ShownMarkers(hasTransitions: false)

    init(_ source: TestSource, _ query: ClustersQuery, filter: String? = nil) {
        self.source = source
        self.query = query
        self.filter = filter
    }

    /// The next change, applied.
    @discardableResult mutating func look() throws -> JSONValue {
        let revision = source.source.revision
        let filter = try filter.map { QueryFilter(try JSONReader.parse($0)) }
        let view = try revision.view(filter, zoom: query.zoom, .never)
        var bytes = ByteWriter()
        table = try revision.writeChange(from: table, to: query, of: view, into: &bytes, .never)
        let change = try JSONReader.parse(bytes.bytes)
        try replay.apply(change)
        #expect(table.count == replay.markers.count)
        return change
    }

    /// What GetClusters gives.
    func expected() throws -> [String] {
        MarkerReplay.features(of: try JSONReader.parse(source.clusters(query, filter: filter).text))
    }
}

@Suite("Viewport") struct ViewportTests {
    private static func added(_ change: JSONValue) -> [String] {
        (change["add"]?.array ?? []).compactMap { $0["key"]?.string }
    }

    private static func removed(_ change: JSONValue) -> [String] {
        (change["remove"]?.array ?? []).compactMap(\.string)
    }

    private let world = ClustersQuery(box: .world, zoom: 0)

    @Test("a marker stays when its feature's id is sent in another spelling") func spelling() throws {
        let test = try TestSource()
        func feature(_ id: String) -> String {
            #"[{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[1,2]},"properties":null}]"#
        }
        func keys(_ id: String) throws -> [String] {
            try test.load(feature(id))
            var watcher = Watcher(test, ClustersQuery(box: .world, zoom: 17))
            return Self.added(try watcher.look())
        }
        for (one, other) in [(#""é""#, #""\u00e9""#), ("1", "1.0"), (#""a/b""#, #""a\/b""#)] {
            #expect(try keys(one) == keys(other), "\(other)")
        }
    }

    @Test("an empty source has an empty first change") func anEmptySourceIsToldAsSuch() throws {
        var watcher = Watcher(try TestSource(), world)
        #expect(try watcher.look().text == #"{"add":[],"remove":[],"keep":0,"revision":0}"#)
    }

    @Test("a change elsewhere keeps all markers, and a change of what a marker shows does not")
    func aChangeElsewhereKeepsAllMarkers() throws {
        let source = try TestSource()
        try source.load(list(point(1, 10, 10), point(2, 20, 20), point(3, -100, 20)))
        var watcher = Watcher(source, ClustersQuery(box: Box(west: 0, south: 0, east: 30, north: 30), zoom: 10))
        try watcher.look()
        for longitude in [-101.0, -102, -103] {
            _ = try source.update(upsert: list(point(3, longitude, 20)))
            let change = try watcher.look()
            #expect(Self.added(change).isEmpty)
            #expect(Self.removed(change).isEmpty)
            #expect(change["keep"] == 2)
            #expect(change["revision"] == .number(Double(source.source.revision.number)))
        }
        // The same node with other properties.
        _ = try source.update(upsert: list(point(2, 20, 20, #"{"name":"x"}"#)))
        #expect(Self.added(try watcher.look()).count == 1)
        #expect(try watcher.replay.features == watcher.expected())
        // It has changed, so it is not among the nodes that last, and goes.
        _ = try source.update(upsert: list(point(2, -100, 20)))
        #expect(Self.removed(try watcher.look()).count == 1)
        #expect(try watcher.replay.features == watcher.expected())
        _ = try source.update(remove: [#require(FeatureIdentifier(.number(1)))])
        #expect(Self.removed(try watcher.look()).count == 1)
        #expect(try watcher.replay.features == watcher.expected())
    }

    @Test("a marker keeps its key while it shows the same") func aMarkerKeepsItsKeyWhileItShowsTheSame() throws {
        let source = try TestSource()
        try source.load(list(point(1, 10, 10), point(2, 10.001, 10), point(3, -100, 20)))
        var watcher = Watcher(source, ClustersQuery(box: .world, zoom: 2))
        let before = Set(Self.added(try watcher.look()))
        // Another point far away, so that the cluster's id is another.
        _ = try source.update(upsert: list(point(4, 100, -30)))
        let change = try watcher.look()
        #expect(Self.removed(change).isEmpty)
        #expect(Set(watcher.replay.markers.keys).isSuperset(of: before))
        #expect(watcher.replay.markers.count == before.count + 1)
        #expect(try watcher.replay.features == watcher.expected())
        // A third in the cluster makes it another marker.
        _ = try source.update(upsert: list(point(5, 10.002, 10)))
        #expect(Self.removed(try watcher.look()).count == 1)
        #expect(try watcher.replay.features == watcher.expected())
    }

    @Test("a feature with the same id replaces the old one") func aFeatureOfTheSameIdTakesTheOldOnesPlace() throws {
        let source = try TestSource()
        try source.load(list(point(1, 10, 10), point(3, -100, 20)))
        var watcher = Watcher(source, world)
        watcher.query.zoom = 17
        try watcher.look()
        _ = try source.update(upsert: list(point(1, 11, 10, #"{"name":"moved"}"#)))
        let change = try watcher.look()
        #expect(Self.added(change).count == 1)
        #expect(Self.removed(change).isEmpty)
        #expect(change["keep"] == 1)
        #expect(try watcher.replay.features == watcher.expected())
    }

    @Test("nothing is shown twice") func nothingIsToldTwice() throws {
        let source = try TestSource()
        try source.load(list(GoldenDataset.points(kind: "d", count: 300, seed: 1)))
        var watcher = Watcher(source, ClustersQuery(box: .world, zoom: 3))
        try watcher.look()
        let change = try watcher.look()
        #expect(Self.added(change).isEmpty)
        #expect(Self.removed(change).isEmpty)
    }

    @Test("coincident points have separate markers") func pointsAtOnePlaceAreToldApart() throws {
        let source = try TestSource(options: #"{"maxZoom":3}"#)
        try source.load(list(point(nil, 1, 1), point(nil, 1, 1), point(7, 1, 1), point(7, 1, 1), point(8, 1, 1)))
        var watcher = Watcher(source, ClustersQuery(box: .world, zoom: 5))
        try watcher.look()
        #expect(watcher.replay.markers.count == 5)
        // One of the two that are alike goes away; the other stays, and so do the rest.
        let before = Set(watcher.replay.markers.keys)
        try source.load(list(point(nil, 1, 1), point(7, 1, 1), point(7, 1, 1), point(8, 1, 1)))
        let change = try watcher.look()
        #expect(Self.added(change).isEmpty)
        #expect(Self.removed(change).count == 1)
        #expect(change["keep"] == 4)
        #expect(Set(watcher.replay.markers.keys).isSubset(of: before))
    }

    @Test("thousands of coincident points are added and removed") func thousandsAtOnePlaceComeAndGo() throws {
        let source = try TestSource(options: #"{"maxZoom":3}"#)
        let many = (0..<3000).map { point($0 % 3 == 0 ? 7 : nil, 1, 1, #"{"n":\#($0 % 5)}"#) }
        try source.load("[\(many.joined(separator: ","))]")
        var watcher = Watcher(source, ClustersQuery(box: .world, zoom: 5))
        try watcher.look()
        #expect(watcher.replay.markers.count == 3000)
        let fewer = many.enumerated().filter { $0.offset % 7 != 0 }.map(\.element)
        try source.load("[\(fewer.joined(separator: ","))]")
        let change = try watcher.look()
        #expect(Self.added(change).isEmpty)
        #expect(change["keep"] == .number(Double(fewer.count)))
        try source.load("[\(many.joined(separator: ","))]")
        #expect(Self.added(try watcher.look()).count == many.count - fewer.count)
        #expect(try watcher.replay.features == watcher.expected())
    }

    @Test("of two features with one id, the one that stays keeps its key")
    func ofTwoWithOneIdTheOneThatStaysKeepsItsKey() throws {
        let source = try TestSource(options: #"{"maxZoom":3}"#)
        try source.load(list(point(7, 1, 1, #"{"n":1}"#), point(7, 1, 1, #"{"n":2}"#)))
        var watcher = Watcher(source, ClustersQuery(box: .world, zoom: 5))
        try watcher.look()
        try source.load(list(point(7, 1, 1, #"{"n":2}"#)))
        let change = try watcher.look()
        #expect(Self.added(change).isEmpty)
        #expect(Self.removed(change).count == 1)
        #expect(try watcher.replay.features == watcher.expected())
    }

    @Test("a feature's own member \"key\" is overridden") func aFeaturesOwnKeyGivesWay() throws {
        let source = try TestSource()
        try source.load(
            #"[{"type":"Feature","key":1,"k\u0065y":2,"kind":3,"geometry":{"type":"Point","coordinates":[1,2]},"properties":null}]"#
        )
        var watcher = Watcher(source, world)
        let feature = try #require(watcher.look()["add"]?.array?.first)
        #expect(feature["key"]?.string?.count == 16)
        #expect(feature["kind"] == 3)
    }

    @Test("an answer with a limit says whether it was truncated") func aLimitTellsWhetherThereIsMore() throws {
        let source = try TestSource()
        try source.load(list(point(1, 1, 1), point(2, 50, 50)))
        var watcher = Watcher(source, ClustersQuery(box: .world, zoom: 10, limit: 1))
        #expect(try watcher.look()["truncated"] == true)
        watcher.query.limit = 2
        let change = try watcher.look()
        #expect(change["truncated"] == false)
        #expect(change["keep"] == 1)
    }
}
