// SPDX-License-Identifier: MIT
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Cluster query") struct ClusterQueryTests {
    private let test: TestSource

    init() throws {
        test = try TestSource(
            options: #"{"clusterProperties":{"sum":["+",["get","v"]],"cluster":["max",["get","v"]]}}"#)
        try test.load(
            list(
                point(1, 0, 0, #"{"v":1,"cluster":true}"#), point(2, 0.5, 0, #"{"v":2}"#),
                point(3, 0, 0.5, #"{"v":3}"#),
                point(4, 90, 0, #"{"v":4,"cluster":true,"cluster_id":7}"#)))
    }

    private func cluster() throws -> Int64 { try #require(try test.world(0).clusterIds.first) }

    @Test("clusters have the four built-in properties and their aggregated ones")
    func clustersTellTheBuiltInFourAndWhatTheyAggregate() throws {
        let answer = try test.world(0)
        #expect(answer.features.count == 2)
        let properties = try #require(answer.features.first { $0["id"] as? Int != 4 })["properties"] as? [String: Any]
        #expect(properties?["cluster"] as? Bool == true)
        #expect(properties?["point_count"] as? Int == 3)
        #expect(properties?["point_count_abbreviated"] as? Int == 3)
        #expect(properties?["sum"] as? Double == 6)
        #expect(properties?.count == 5)
    }

    @Test("a point with a property \"cluster\" is still a point") func aPointThatSaysItIsAClusterIsAPoint() throws {
        let answer = try test.world(0)
        #expect(answer.text.contains(point(4, 90, 0, #"{"v":4,"cluster":true,"cluster_id":7}"#)))
        #expect(throws: SourceError.clusterNotFound(7)) {
            try test.answer { try $0.writeChildren(of: 7, in: $1, into: &$2, .never) }
        }
    }

    @Test(
        "an answer with a limit says whether it was truncated",
        arguments: [(0, true, 0), (1, true, 1), (2, false, 2), (9, false, 2)])
    func aLimitTellsWhetherThereIsMore(_ limit: Int, _ isTruncated: Bool, _ count: Int) throws {
        let answer = try test.clusters(ClustersQuery(box: .world, zoom: 0, limit: limit))
        #expect(answer.features.count == count)
        #expect(answer.object["truncated"] as? Bool == isTruncated)
    }

    @Test(
        "a box that shows nothing gets advice if its edges are probably in another order",
        arguments: [
            // West, south, east, north; the source has points from 10 to 12 east and 47 to 49 north.
            ([10, 47, 12, 49], nil), ([47, 10, 49, 12], "longitudes and latitudes exchanged"),
            ([10, 49, 12, 47], "south is above its north"), ([20, 47, 22, 49], nil), ([47, 20, 49, 22], nil),
            ([-180, -90, 180, 90], nil),
        ])
    func boxInAnotherOrder(_ edges: [Double], _ advice: String?) throws {
        let test = try TestSource()
        try test.load(list(point(1, 10, 47), point(2, 12, 49)))
        let box = Box(west: edges[0], south: edges[1], east: edges[2], north: edges[3])
        let warnings = try test.clusters(ClustersQuery(box: box, zoom: 3)).object["warnings"] as? [String]
        #expect((warnings != nil) == (advice != nil), "\(warnings ?? [])")
        if let advice { #expect(warnings?.first?.contains(advice) == true, "\(warnings ?? [])") }
    }

    @Test("without a limit there is no member truncated") func withoutALimitNothingIsSaidOfIt() throws {
        #expect(try test.world(0).object["truncated"] == nil)
    }

    @Test(
        "leaves are paged",
        arguments: [(1, 0, 1), (10, 0, 3), (0, 0, 3), (2, 2, 1), (10, 3, 0), (0, .max, 0), (.max, 1, 2)])
    func leavesComeInPages(_ limit: Int, _ offset: Int, _ count: Int) throws {
        let id = try cluster()
        let page = try test.answer {
            try $0.writeLeaves(of: id, in: $1, limit: limit, offset: offset, into: &$2, .never)
        }
        #expect(page.features.count == count)
        #expect(page.object["total"] as? Int == 3)
    }

    @Test("the hull of a cluster is a feature") func theHullOfAClusterIsAFeature() throws {
        let id = try cluster()
        let hull = try test.answer { try $0.writeHull(of: id, in: $1, into: &$2, .never) }
        let geometry = try #require(hull.object["geometry"] as? [String: Any])
        #expect(geometry["type"] as? String == "Polygon")
        let ring = try #require((geometry["coordinates"] as? [[[Double]]])?.first)
        #expect(ring.count == 4)
        #expect(ring.first == ring.last)
        #expect((hull.object["properties"] as? [String: Any])?["point_count"] as? Int == 3)
        #expect(hull.revision == Int(test.source.revision.number))
    }

    @Test("LocateFeature returns the node that shows the feature") func showsWhereAFeatureIs() throws {
        let identifier = try #require(FeatureIdentifier(.number(2)))
        let id = try cluster()
        let shown = try test.answer { try $0.writeLocation(of: identifier, at: 0, in: $1, into: &$2, .never) }
        let feature = try #require(shown.object["feature"] as? [String: Any])
        #expect((feature["id"] as? Int64) == id)
        let alone = try #require(shown.object["standsAloneFrom"] as? Int)
        let at = try test.answer { try $0.writeLocation(of: identifier, at: Double(alone), in: $1, into: &$2, .never) }
        #expect((at.object["feature"] as? [String: Any])?["id"] as? Int == 2)
        let before = try test.answer {
            try $0.writeLocation(of: identifier, at: Double(alone) - 1, in: $1, into: &$2, .never)
        }
        #expect((before.object["feature"] as? [String: Any])?["id"] as? Int != 2)
    }

    @Test("clusters have the included members") func furtherDetailsOfClusters() throws {
        var output = FeatureOutput()
        output.include = [.hull, .bounds, .coincident, .anchor, .expansionZoom]
        let answer = try test.world(0, output)
        let place = try #require(answer.features.indices.first { answer.properties($0)["point_count"] != nil })
        let properties = answer.properties(place)
        #expect(properties["bbox"] as? [Double] == [0, 0, 0.5, 0.5])
        #expect(properties["coincident"] as? Bool == false)
        #expect(properties["anchor"] as? [Double] == [0, 0])
        #expect((properties["hull"] as? [String: Any])?["type"] as? String == "Polygon")
        #expect(properties["expansionZoom"] is Int)
    }

    @Test("a query of an earlier revision is rejected") func aRevisionOfThePastIsRefused() throws {
        let revision = test.source.revision
        try revision.check(asked: nil)
        try revision.check(asked: revision.number)
        #expect(throws: SourceError.revisionChanged(asked: 99, current: revision.number)) {
            try revision.check(asked: 99)
        }
    }
}
