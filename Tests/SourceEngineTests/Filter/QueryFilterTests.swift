// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Query filter") struct QueryFilterTests {
    private static let filter = #"["==",["get","category"],"cafe"]"#
    private static let options = #"{"clusterProperties":{"sum":["+",["get","value"]]},"minPoints":3}"#

    @Test("answers equal those of a source loaded with that filter")
    func answersAsASourceLoadedWithThatFilter() throws {
        let points = list(GoldenDataset.points(kind: "c", count: 1500, seed: 21))
        let test = try TestSource(options: Self.options)
        try test.load(points)
        var loaded = Self.options
        loaded.removeLast()
        let filtered = try TestSource(options: loaded + ",\"filter\":\(Self.filter)}")
        try filtered.load(points)
        for zoom in [0.0, 2, 5, 9, 17] {
            let (ours, theirs) = (try test.world(zoom, filter: Self.filter), try filtered.world(zoom))
            #expect(ours.text.dropRevision == theirs.text.dropRevision)
            for id in theirs.clusterIds.prefix(3) {
                let children = try test.answer(Self.filter) { try $0.writeChildren(of: id, in: $1, into: &$2, .never) }
                let expected = try filtered.answer { try $0.writeChildren(of: id, in: $1, into: &$2, .never) }
                #expect(children.text.dropRevision == expected.text.dropRevision)
            }
        }
    }

    @Test("a filter that nothing passes gets advice, and names a property that no feature has") func advice() throws {
        let test = try TestSource()
        try test.load(list(point(1, 1, 1, #"{"population":5}"#), point(2, 2, 2, #"{"population":7}"#)))
        func warnings(_ filter: String) throws -> [String]? {
            try test.world(0, filter: filter).object["warnings"] as? [String]
        }
        let nothing = "none of the source's 2 points passes the filter"
        #expect(try warnings(#"[">",["get","population"],9]"#) == [nothing])
        #expect(
            try warnings(#"["all",[">",["get","popluation"],9],["has","height"]]"#) == [
                nothing, "no feature has the property \"height\" that the filter reads",
                "no feature has the property \"popluation\" that the filter reads: did you mean \"population\"?",
            ])
        #expect(try warnings(#"[">",["get","population"],6]"#) == nil)
        let older = #"the filter compares constants, so it gives the same for every feature: did you mean "#
        #expect(
            try warnings(#"["==","country","Germany"]"#)
                == [nothing, older + #"["==",["get","country"],"Germany"]?"#])
        #expect(
            try warnings(#"["!=","country","Germany"]"#) == [older + #"["!=",["get","country"],"Germany"]?"#])
        let query = ClustersQuery(box: Box(west: 0, south: 9, east: 9, north: 0), zoom: 0)
        let both = try test.clusters(query, filter: "false").object["warnings"] as? [String]
        #expect(both?.count == 2)
        #expect(both?.first == nothing)
        #expect(try TestSource().world(0, filter: "false").object["warnings"] == nil)
    }

    @Test("a filter whose rows take too many steps together is an error") func tooManySteps() throws {
        let test = try TestSource()
        let text = String(repeating: "t", count: 16 << 10)
        let count = 1400
        for start in stride(from: 0, to: count, by: 100) {
            let points = (start..<start + 100).map { point($0, Double($0 % 90), 1, "{\"t\":\"\(text)\"}") }
            try test.load(list(points.joined(separator: ",")), mode: .append)
        }
        // Each part reads the whole text, which is cheap and counts as 256 steps: below the limit of a row.
        let parts = Array(repeating: #"["==",["typeof",["get","t"]],"x"]"#, count: 200)
        func filter(_ parts: some Sequence<String>) throws -> QueryFilter {
            QueryFilter(try JSONReader.parse("[\"any\",\(parts.joined(separator: ","))]"))
        }
        let revision = test.source.revision
        #expect(try revision.view(filter(parts.prefix(2)), zoom: 0, .never).members?.isEmpty == true)
        #expect {
            try revision.view(filter(parts), zoom: 0, .never)
        } throws: { error in
            guard case SourceError.evaluationTooLong? = error as? SourceError else { return false }
            return true
        }
    }

    @Test("a view is built once") func aViewIsBuiltOnce() throws {
        let test = try TestSource()
        try test.load(list(GoldenDataset.points(kind: "u", count: 100, seed: 3)))
        let filter = QueryFilter(try JSONReader.parse(Self.filter))
        let revision = test.source.revision
        #expect(revision.readyView(filter, zoom: 0) == nil)
        let view = try revision.view(filter, zoom: 0, .never)
        #expect(revision.readyView(filter, zoom: 5) === view)
        #expect(try revision.view(filter, zoom: nil, .never) === view)
        #expect(test.registry.caches.filters.bytes == view.memoryBytes)
    }

    @Test("a new revision has new views") func aNewRevisionHasNewViews() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0, #"{"category":"cafe"}"#), point(2, 0, 0)))
        #expect(try test.world(0, filter: Self.filter).features.count == 1)
        try test.load(list(point(3, 9, 0)), mode: .append)
        let filter = QueryFilter(try JSONReader.parse(Self.filter))
        #expect(test.source.revision.readyView(filter, zoom: 0) == nil)
        #expect(try test.world(0, filter: Self.filter).features.count == 1)
    }

    @Test("a filter may depend on the zoom") func aFilterMayDependOnTheZoom() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0, #"{"from":3}"#), point(2, 90, 0, #"{"from":0}"#)))
        let filter = #"[">=",["zoom"],["get","from"]]"#
        #expect(try test.world(2.9, filter: filter).features.count == 1)
        #expect(try test.world(3, filter: filter).features.count == 2)
        #expect(throws: SourceError.self) { try test.answer(filter) { _, _, _ in } }
    }

    @Test("what does not compile is refused") func whatDoesNotCompileIsRefused() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0)))
        #expect(throws: SourceError.self) { try test.world(0, filter: #"["nope"]"#) }
        #expect(test.registry.filterCacheBytes == 0)
    }

    @Test("the least recently used views are evicted") func viewsOfTheLeastRecentUseGo() throws {
        let cache = FilterCache(budget: 1)
        let test = try TestSource()
        let view = test.source.revision.view
        let keys = (1...2).map { FilterCache.ViewKey(revision: $0, filter: [], zoom: nil) }
        for key in keys { _ = try cache.view(key, .never) { view } }
        #expect(cache.ready(keys[0]) == nil)
        #expect(cache.ready(keys[1]) != nil)
    }
}

extension String {
    /// An answer without the revision at its end.
    fileprivate var dropRevision: Substring {
        guard let mark = range(of: ",\"revision\":", options: .backwards) else { return self[...] }
        return self[..<mark.lowerBound]
    }
}
