// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import Clustering
@testable import ImageStore
@testable import Responses
@testable import SourceEngine

/// Each named view must always answer as a source that is loaded with the source's features, in their order, and the
/// view's options.
@Suite("Named views") struct NamedViewTests {
    /// Views that follow updates and views that do not, over any source.
    private static let views = #"""
        {"wide":{"radius":90,"maxZoom":9},
         "pairs":{"minPoints":3},
         "bars":{"filter":["==",["get","kind"],"bar"]},
         "none":{"filter":["==",["get","kind"],"museum"]},
         "sorted":{"sortKey":["-",0,["get","n"]],"precision":"fixed"},
         "few":{"filter":[">",["get","n"],7],"sortKey":["get","kind"],"clusterIds":"origin","minZoom":2},
         "heavy":{"weight":["-",["get","n"],3],"clusterProperties":{"sum":["+",["get","n"]]}},
         "parts":{"partitionBy":["get","kind"],"precision":"double","clusterProperties":null},
         "plain":{"filter":null,"weight":null,"sortKey":null,"partitionBy":null,"radius":null},
         "ids":{"sortKey":["id"],"extent":256,"clusterProperties":{"top":["max",["get","n"]]}}}
        """#

    private static let sources = [
        "", #""generateId":true"#, #""sortKey":["get","n"],"precision":"double""#,
        #""filter":["!=",["get","n"],1],"clusterProperties":{"m":["mean",["get","n"]]},"promoteId":"key""#,
        #""weight":["+",1,["get","n"]],"partitionBy":["%",["get","n"],2]"#,
        #""indexedProperties":{"n":["get","n"],"half":["/",["get","n"],2]}"#,
        #""projection":{"planar":[-10,-10,160,80]},"clusterIds":"origin""#,
    ]

    private static func options(_ source: String, _ views: String = views) -> String {
        "{\(source)\(source.isEmpty ? "" : ",")\"views\":\(views)}"
    }

    @Test("a rule that shows what a view shows takes the view's clusters") func rules() throws {
        let test = try TestSource(
            options: #"""
                {"views":{"wide":{"filter":["==",["get","kind"],"bar"],"radius":90},
                          "bars":{"filter":["==",["get","kind"],"bar"]}}}
                """#)
        var random = PythonRandom(seed: 3)
        try test.load(Self.features(0..<200, &random))
        let revision = test.source.revision
        let name = try #require(SourceName("bars"))
        let bars = try #require(revision.named(name))
        func rule(_ text: String, _ query: String? = nil) throws -> QueryFilter {
            QueryFilter(try query.map { try JSONReader.parse($0) }, within: try JSONReader.parse(text), leastCount: 3)
        }
        let same = try rule(#"["==", ["get", "kind"], "bar"]"#)
        let view = try revision.view(same, zoom: nil, .never)
        // A view that was made for the filter lists its members.
        #expect(view.members == nil && view.index.lineage == bars.view.index.lineage)
        #expect(view.isRestricted && view.leastCount == 3)
        let part = try revision.part(
            seenBy: QueryFilter(nil, within: JSONReader.parse(#"["==",["get","kind"],"bar"]"#), leastCount: 0), .never)
        #expect(part.points == bars.pointCount)
        #expect(part.bounds == bars.bounds && part.bounds != revision.bounds)
        for other in [
            try rule(#"["==",["get","kind"],"hotel"]"#),
            try rule(#"["==",["get","kind"],"bar"]"#, #"["<",["get","n"],5]"#),
        ] {
            #expect(try revision.view(other, zoom: nil, .never).members != nil)
        }
    }

    /// Features as `towns` has them, with a property to promote.
    private static func features(_ ids: some Sequence<Int>, _ random: inout PythonRandom) -> String {
        let kinds = ["bar", "café", "hotel"]
        return "["
            + ids.map { id in
                point(
                    id, Double(random.randrange(50)) * 3, Double(random.randrange(40)) * 1.5,
                    #"{"n":\#(random.randrange(11)),"kind":"\#(kinds[random.randrange(3)])","key":\#(id)}"#)
            }.joined(separator: ",") + "]"
    }

    private static func change(_ step: Int, _ random: inout PythonRandom, _ source: Source) throws {
        switch step % 5 {
        case 0: try source.change(upsert: features([random.randrange(300)], &random))
        case 1: try source.change(remove: (0..<3).map { _ in .number(Double(random.randrange(300))) })
        case 2:
            let ids = Set((0..<8).map { _ in random.randrange(300) }).sorted()
            try source.change(upsert: features(ids, &random), remove: [.number(Double(300 + random.randrange(20)))])
        case 3: try source.change(upsert: features((0..<3).map { 300 + step * 3 + $0 }, &random))
        // Too many to be made in place.
        default: try source.change(upsert: features(Set((0..<80).map { _ in random.randrange(320) }).sorted(), &random))
        }
    }

    @Test("views equal sources through imports and updates", arguments: sources)
    func equalSources(_ source: String) throws {
        var random = PythonRandom(seed: 5)
        let test = try TestSource(options: Self.options(source))
        try NamedViews.expectEqual(test.source, "without data")
        try test.load(Self.features(0..<200, &random))
        try NamedViews.expectEqual(test.source, "loaded")
        for step in 0..<6 {
            let before = test.source.revision.number
            try Self.change(step, &random, test.source)
            let revision = test.source.revision
            #expect(revision.number > before)
            #expect(revision.views.allSatisfy { $0.number == revision.number })
            try NamedViews.expectEqual(test.source, "step \(step)")
        }
        try test.load(Self.features(500..<520, &random), mode: .append)
        try NamedViews.expectEqual(test.source, "appended")
        try Self.change(0, &random, test.source)
        test.source.compact()
        #expect(test.source.revision.isPlain)
        try NamedViews.expectEqual(test.source, "compacted")
        try Self.change(2, &random, test.source)
        try NamedViews.expectEqual(test.source, "changed after that")
    }

    @Test("changes beside a compaction reach all views")
    func changesBesideACompaction() throws {
        var random = PythonRandom(seed: 9)
        let test = try TestSource(options: Self.options(""))
        try test.load(Self.features(0..<200, &random))
        try Self.change(2, &random, test.source)
        test.source.compact { round in
            if round < 2 { try? Self.change(round, &random, test.source) }
        }
        try NamedViews.expectEqual(test.source)
    }

    @Test("small updates are made in place in views whose options allow it")
    func followsUpdates() throws {
        var random = PythonRandom(seed: 3)
        let test = try TestSource(options: Self.options(""))
        try test.load(Self.features(0..<300, &random))
        let before = test.source.revision
        try test.source.change(upsert: Self.features([4, 301], &random), remove: [.number(9)])
        let after = test.source.revision
        let followed = after.views.filter { view in
            before.views.contains { $0.name == view.name && $0.view.index.lineage == view.view.index.lineage }
        }
        let names = Set(followed.compactMap { $0.name?.text })
        #expect(names.isSuperset(of: ["wide", "bars", "none", "sorted", "few", "heavy", "parts", "plain", "ids"]))
        #expect(!names.contains("pairs"))
    }

    @Test("an update that does not concern a view keeps its clusters and their ids")
    func keepsUnconcernedViews() throws {
        let test = try TestSource(options: #"{"views":{"bars":{"filter":["==",["get","kind"],"bar"],"minPoints":3}}}"#)
        try test.load(towns(90))
        let before = try #require(test.source.revision.views.first)
        try test.source.change(upsert: list(point(1, 3, 3, #"{"kind":"café"}"#)), remove: [.number(2)])
        #expect(test.source.revision.views.first?.view === before.view)
        #expect(test.source.revision.number > before.number)
    }

    @Test("expired features leave all views") func expire() throws {
        let views = #""ttlSeconds":100"#
        let test = try TestSource(options: Self.options(views))
        var random = PythonRandom(seed: 8)
        let start = Timestamp.now
        let load = FeatureImport(into: test.source, mode: .replace, policy: .reject, at: start)
        try load.add(Self.features(0..<100, &random))
        _ = try load.finish(.never)
        let later = Timestamp(milliseconds: start.milliseconds + 50_000)
        _ = try test.source.update(
            upserts: Array(Self.features(50..<140, &random).utf8), removals: [], at: later, .never)
        try test.source.expire(notAfter: start.milliseconds, at: later)
        #expect(test.source.revision.pointCount == 90)
        try NamedViews.expectEqual(test.source)
    }

    @Test("positions of a MultiPoint are in views too", arguments: ["", #""generateId":true,"#])
    func multipoints(_ other: String) throws {
        let views = #""views":{"v":{"filter":[">",["get","n"],1],"radius":20},"s":{"sortKey":["get","n"]}}"#
        let test = try TestSource(options: "{\"geometries\":\"multipoint\",\(other)\(views)}")
        func feature(_ id: Int, _ n: Int, _ count: Int) -> String {
            let positions = (0..<count).map { "[\(id * 7 % 170 + $0),\($0 * 3)]" }.joined(separator: ",")
            return
                #"{"type":"Feature","id":\#(id),"geometry":{"type":"MultiPoint","coordinates":[\#(positions)]},"#
                + #""properties":{"n":\#(n)}}"#
        }
        try test.load("[" + (0..<20).map { feature($0, $0 % 4, 1 + $0 % 3) }.joined(separator: ",") + "]")
        for (id, count) in [(3, 1), (5, 4), (30, 2)] {
            _ = try test.update(upsert: "[\(feature(id, 3, count)),\(feature(id + 1, 0, 2))]")
            try NamedViews.expectEqual(test.source, "\(id)")
        }
    }

    @Test("views share the features, and take at most 66 bytes per point that they show") func sharesFeatures() throws {
        var random = PythonRandom(seed: 2)
        let points = (0..<30_000).map { id in
            let n = id % 10
            return point(id, random.uniform(-180, 180), random.uniform(-80, 80), #"{"n":\#(n)}"#)
        }
        let features = "[" + points.joined(separator: ",") + "]"
        let views = #"{"a":{"radius":60},"b":{"filter":["<",["get","n"],5]},"c":{"filter":["<",["get","n"],1]}}"#
        let (one, two) = (try TestSource(), try TestSource(options: "{\"views\":\(views)}"))
        for test in [one, two] { try test.load(features) }
        let (alone, revision) = (one.source.revision, two.source.revision)
        #expect(revision.views.map(\.pointCount) == [30_000, 15_000, 3000])
        for view in revision.views {
            #expect(view.store === revision.store)
            #expect(view.memoryBytes <= 66 * view.pointCount, "\(Double(view.memoryBytes) / Double(view.pointCount))")
        }
        #expect(revision.memoryBytes == alone.memoryBytes + revision.views.reduce(0) { $0 + $1.memoryBytes })
    }

    private static func update(_ source: Source, _ options: String) throws -> OptionsOutcome {
        try source.update(options: SourceOptions(reading: JSONReader.parse(options)), .never)
    }

    private static func clusters(_ source: Source) -> [String: ClusterIndex] {
        let revision = source.revision
        return Dictionary(
            uniqueKeysWithValues: ([revision] + revision.views).map { ($0.name?.text ?? "", $0.view.index) })
    }

    @Test("a change of options clusters only the views whose options change", arguments: [false, true])
    func keepsViews(_ isChanged: Bool) throws {
        var random = PythonRandom(seed: 21)
        let test = try TestSource(options: #"{"radius":50,"views":{"a":{"radius":30},"b":{"minPoints":4}}}"#)
        try test.load(Self.features(0..<120, &random))
        if isChanged { try Self.change(2, &random, test.source) }
        let before = Self.clusters(test.source)
        let number = test.source.revision.number
        _ = try Self.update(
            test.source,
            #"{"radius":50,"ttlSeconds":900,"views":{"c":{"filter":[">",["get","n"],4],"sortKey":["get","n"]},"#
                + #""a":{"radius":30},"b":{"minPoints":5}}}"#)
        let after = Self.clusters(test.source)
        #expect(test.source.revision.number > number)
        #expect(Set(after.keys) == ["", "a", "b", "c"])
        #expect(after[""] === before[""])
        #expect(after["a"] === before["a"])
        #expect(after["b"] !== before["b"])
        try NamedViews.expectEqual(test.source, "added")
        for step in 0..<4 {
            try Self.change(step, &random, test.source)
            try NamedViews.expectEqual(test.source, "step \(step)")
        }
        test.source.compact()
        let compacted = Self.clusters(test.source)
        // The source's own radius changes. A view of another radius does not, one without a radius does.
        _ = try Self.update(test.source, #"{"radius":70,"views":{"a":{"radius":30},"b":{"minPoints":5}}}"#)
        let last = Self.clusters(test.source)
        #expect(Set(last.keys) == ["", "a", "b"])
        #expect(last[""] !== compacted[""])
        #expect(last["a"] === compacted["a"])
        #expect(last["b"] !== compacted["b"])
        try NamedViews.expectEqual(test.source, "another radius")
        // Features leave the source for good, and so all views.
        _ = try Self.update(test.source, #"{"filter":["<",["get","n"],5],"views":{"a":{"radius":30}}}"#)
        #expect(Self.clusters(test.source)["a"] !== last["a"])
        try NamedViews.expectEqual(test.source, "a filter")
        _ = try Self.update(test.source, "{}")
        #expect(test.source.revision.views.isEmpty)
    }

    @Test("the order of the source's points is no longer a view's when the source's key changes")
    func changesTheKey() throws {
        var random = PythonRandom(seed: 4)
        let test = try TestSource(options: #"{"sortKey":["get","n"],"views":{"a":{"sortKey":["get","n"]},"b":{}}}"#)
        try test.load(Self.features(0..<80, &random))
        try NamedViews.expectEqual(test.source)
        _ = try Self.update(test.source, #"{"sortKey":["get","kind"],"views":{"a":{"sortKey":["get","n"]},"b":{}}}"#)
        try NamedViews.expectEqual(test.source)
        for step in 0..<3 { try Self.change(step, &random, test.source) }
        try NamedViews.expectEqual(test.source)
    }

    @Test(
        "options of views that mean nothing are refused with their path",
        arguments: [
            (#"{"views":[]}"#, "options.views"), (#"{"views":{"a":7}}"#, "options.views.a"),
            (#"{"views":{"a b":{}}}"#, "options.views.a b"), (#"{"views":{"a:b":{}}}"#, "options.views.a:b"),
            (#"{"views":{"a":{"ttlSeconds":5}}}"#, "options.views.a.ttlSeconds"),
            (#"{"views":{"a":{"views":{}}}}"#, "options.views.a.views"),
            (#"{"views":{"a":{"radius":-1}}}"#, "options.views.a.radius"),
            (#"{"views":{"a":{"filter":["get"]}}}"#, "options.views.a.filter"),
            (#"{"minZoom":9,"views":{"a":{"maxZoom":4}}}"#, "options.views.a.minZoom"),
        ])
    func refusesOptions(_ options: String, _ path: String) throws {
        let error = #expect(throws: SourceError.self) {
            try SourceOptions(reading: JSONReader.parse(options))
        }
        #expect(error.map { "\($0)".contains("params.\(path)") } ?? false, "\(String(describing: error))")
    }

    @Test("a source has at most so many views") func mostViews() throws {
        func options(_ count: Int) throws -> SourceOptions {
            let views = (0..<count).map { "\"v\($0)\":{}" }.joined(separator: ",")
            return try SourceOptions(reading: JSONReader.parse("{\"views\":{\(views)}}"))
        }
        #expect(try options(ViewOption.most).views.count == ViewOption.most)
        #expect(throws: SourceError.self) { try options(ViewOption.most + 1) }
    }

    @Test("options with views are described as they were given, and read back") func describesOptions() throws {
        let text = #"{"radius":50,"views":{"a":{"filter":null,"radius":30},"b":{}}}"#
        let options = try SourceOptions(reading: JSONReader.parse(text))
        let again = try SourceOptions(reading: options.json)
        #expect(again.json == options.json)
        #expect(again.views.map(\.options.json) == options.views.map(\.options.json))
        #expect(options.views.map { $0.options.radius.source } == [.number(30), .number(50)])
    }

    @Test("advice names the view that shows nothing") func advises() throws {
        let test = try TestSource(options: #"{"views":{"a":{"filter":["==",["get","kynd"],"bar"]}}}"#)
        let outcome = try test.load(towns(30))
        #expect(outcome.warnings.contains { $0.contains("view a") && $0.contains("kynd") }, "\(outcome.warnings)")
        #expect(outcome.warnings.contains { $0.contains("view a shows none") }, "\(outcome.warnings)")
    }
}
