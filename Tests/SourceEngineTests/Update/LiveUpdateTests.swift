// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

/// After updates every answer must equal that of loading the features again, except clusters' ids.
@Suite("Live update") struct LiveUpdateTests {
    /// The features that there ought to be, in order.
    private struct Model {
        var features: [(id: Int, text: String)] = []
        var random: PythonRandom

        /// Some changes, made to the model too.
        mutating func change(_ most: Int) -> (upserts: String, removals: [Int]) {
            var upserts: [String] = []
            var removals: [Int] = []
            for number in Set((0..<1 + random.randrange(most)).map { _ in random.randrange(250) }).sorted() {
                let place = features.firstIndex { $0.id == number }
                if let place, random.randrange(3) == 0 {
                    features.remove(at: place)
                    removals.append(number)
                    continue
                }
                let text = point(
                    number, Double(random.randrange(400)) / 40, Double(random.randrange(200)) / 40,
                    #"{"v":\#(random.randrange(9)),"on":\#(random.randrange(2) == 0)}"#)
                upserts.append(text)
                if let place { features[place].text = text } else { features.append((number, text)) }
            }
            return (upserts.joined(separator: ","), removals)
        }

        var text: String { "[" + features.map(\.text).joined(separator: ",") + "]" }
    }

    @Test(
        "answers equal those of loading again",
        arguments: [
            "{}",
            #"{"clusterProperties":{"sum":["+",["get","v"]],"top":["max",["get","v"]],"m":["mean",["get","v"]],"n":["count",["get","v"]],"all":["all",["get","on"]]}}"#,
            #"{"generateId":true,"maxZoom":20,"precision":"double","filter":["<",["get","v"],100]}"#,
            #"{"minPoints":3,"clusterProperties":{"d":["distinct",["get","v"]]}}"#,
            #"{"clusterProperties":{"low":["min",100,["get","v"]],"h":["histogram",["get","v"]]}}"#,
            #"{"weight":["+",1,["get","v"]],"partitionBy":["get","on"]}"#,
            #"{"clusterProperties":{"newest":["max",["id"]],"points":["all",["==",["geometry-type"],"Point"]]},"partitionBy":["%",["id"],2]}"#,
        ])
    func answersAsIfLoadedAnew(_ options: String) throws {
        var model = Model(random: PythonRandom(seed: 11))
        let (test, fresh) = (try TestSource(options: options), try TestSource(options: options))
        _ = model.change(400)
        try test.load(model.text)
        for step in 0..<16 {
            let (upserts, removals) = model.change(step % 6 == 5 ? 20 : 3)
            let ids = try removals.map { try #require(FeatureIdentifier(.number(Double($0)))) }
            let outcome = try test.update(upsert: "[" + upserts + "]", remove: ids)
            try fresh.load(model.text)
            #expect(outcome.description.revision.bounds == fresh.source.revision.bounds)
            #expect(outcome.description.revision.pointCount == fresh.source.revision.pointCount)
            try expectEqual(test, fresh)
        }
        let counts = test.registry.updateCounts
        #expect(counts.followed + counts.rebuilt == 16)
        let isFollowable = !options.contains("histogram") && !options.contains("distinct")
        #expect(isFollowable ? counts.followed > 10 : counts.followed == 0, "\(counts)")
    }

    private func expectEqual(_ test: TestSource, _ fresh: TestSource) throws {
        for zoom in [0.0, 4, 7, 17] {
            let (mine, theirs) = (try test.world(zoom), try fresh.world(zoom))
            #expect(plain(mine) == plain(theirs), "zoom \(zoom)")
            for (one, other) in zip(mine.clusterIds, theirs.clusterIds) {
                try expectEqual(test, one, fresh, other)
            }
        }
        let filter = #"[">",["get","v"],4]"#
        #expect(plain(try test.world(4, filter: filter)) == plain(try fresh.world(4, filter: filter)))
        let tile = try #require(TileAddress(z: 3, x: 4, y: 3))
        func tiles(_ source: TestSource) throws -> Answer {
            try source.answer { try $0.writeTile(tile, of: $1, into: &$2, .never) }
        }
        #expect(plain(try tiles(test), "tags") == plain(try tiles(fresh), "tags"))
    }

    /// Compares what is asked of one cluster.
    private func expectEqual(_ test: TestSource, _ one: Int64, _ fresh: TestSource, _ other: Int64) throws {
        func answers(_ source: TestSource, _ id: Int64) throws -> [Answer] {
            [
                try source.answer { try $0.writeChildren(of: id, in: $1, into: &$2, .never) },
                try source.answer { try $0.writeLeaves(of: id, in: $1, limit: 7, offset: 1, into: &$2, .never) },
                try source.answer { try $0.writeExpansionZoom(of: id, in: $1, into: &$2) },
            ]
        }
        for (mine, theirs) in zip(try answers(test, one), try answers(fresh, other)) {
            #expect(plain(mine) == plain(theirs))
            #expect(mine.object["total"] as? Int == theirs.object["total"] as? Int)
            #expect(mine.object["zoom"] as? Int == theirs.object["zoom"] as? Int)
        }
        func hull(_ source: TestSource, _ id: Int64) throws -> NSDictionary? {
            try source.answer { try $0.writeHull(of: id, in: $1, into: &$2, .never) }.object["geometry"]
                as? NSDictionary
        }
        #expect(try hull(test, one) == hull(fresh, other))
    }

    /// An answer's features without the ids of clusters.
    private func plain(_ answer: Answer, _ properties: String = "properties") -> [NSDictionary] {
        answer.features.map { feature in
            var feature = feature
            if var members = feature[properties] as? [String: Any], members["cluster"] != nil {
                members["cluster_id"] = nil
                feature[properties] = members
                feature["id"] = nil
            }
            return feature as NSDictionary
        }
    }

    @Test("finds features by id after updates") func findsFeaturesByIdAfterUpdates() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0), point(2, 40, 0), point(3, 80, 0)))
        let one = try #require(FeatureIdentifier(.number(1)))
        let nine = try #require(FeatureIdentifier(.number(9)))
        _ = try test.update(upsert: list(point(9, 120, 0)), remove: [one])
        func location(_ id: FeatureIdentifier) throws -> Answer {
            try test.answer { try $0.writeLocation(of: id, at: 17, in: $1, into: &$2, .never) }
        }
        #expect(try location(nine).text.contains("[120"))
        #expect(throws: SourceError.self) { try location(one) }
        let again = try test.update(upsert: list(point(1, 10, 10), point(9, 121, 0)))
        #expect(again.inserted == 1)
        #expect(again.updated == 1)
        #expect(try location(nine).text.contains("[121"))
        #expect(try location(one).text.contains("[10"))
    }

    @Test("imports and options follow on updates") func importsAndOptionsFollowOnUpdates() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0), point(2, 40, 0), point(3, 80, 0), point(4, 85, 0)))
        let two = try #require(FeatureIdentifier(.number(2)))
        _ = try test.update(upsert: list(point(5, 120, 0), point(1, 1, 1)), remove: [two])
        #expect(!test.source.revision.isPlain)
        try test.load(list(point(6, 150, 0)), mode: .append)
        #expect(test.source.revision.isPlain)
        let fresh = try TestSource()
        try fresh.load(list(point(1, 1, 1), point(3, 80, 0), point(4, 85, 0), point(5, 120, 0), point(6, 150, 0)))
        #expect(plain(try test.world(3)) == plain(try fresh.world(3)))
        _ = try test.update(remove: [#require(FeatureIdentifier(.number(6)))])
        let options = try SourceOptions(reading: JSONReader.parse(#"{"radius":1}"#))
        _ = try test.source.update(options: options, .never)
        #expect(test.source.revision.pointCount == 4)
    }

    @Test(
        "changes during a compaction are applied to its result",
        arguments: [
            "{}", #"{"weight":["+",1,["get","v"]],"partitionBy":["get","on"]}"#,
            #"{"clusterProperties":{"sum":["+",["get","v"]],"m":["mean",["get","v"]]}}"#,
        ])
    func whatChangesWhileAWholeIsBuiltIsTakenOver(_ options: String) throws {
        var model = Model(random: PythonRandom(seed: 9))
        let (test, fresh) = (try TestSource(options: options), try TestSource(options: options))
        _ = model.change(400)
        try test.load(model.text)
        func update() throws {
            let (upserts, removals) = model.change(4)
            let ids = removals.compactMap { FeatureIdentifier(.number(Double($0))) }
            _ = try test.update(upsert: "[" + upserts + "]", remove: ids)
        }
        for most in 0..<10 {
            for _ in 0..<3 { try update() }
            let before = test.source.revision.number
            var failure: (any Error)?
            test.source.compact { round in
                guard round < most else { return }
                do { for _ in 0..<3 { try update() } } catch { failure = error }
            }
            #expect(failure == nil)
            #expect(test.source.revision.number > before)
            try fresh.load(model.text)
            try expectEqual(test, fresh)
        }
    }

    @Test("updates continue during a compaction") func updatesGoOnWhileChangesAreWorkedIn() async throws {
        var model = Model(random: PythonRandom(seed: 4))
        let (test, fresh) = (try TestSource(), try TestSource())
        _ = model.change(300)
        try test.load(model.text)
        for _ in 0..<10 {
            let source = test.source
            let work = Task.detached { _ = source.compact() }
            for _ in 0..<5 {
                let (upserts, removals) = model.change(3)
                let ids = try removals.map { try #require(FeatureIdentifier(.number(Double($0)))) }
                let before = test.source.revision.number
                let after = try test.update(upsert: "[" + upserts + "]", remove: ids)
                #expect(after.description.revision.number > before)
            }
            await work.value
        }
        // Something to be worked in, whether or not the last updates are already.
        let (upserts, removals) = model.change(3)
        _ = try test.update(
            upsert: "[" + upserts + "]", remove: removals.compactMap { FeatureIdentifier(.number(Double($0))) })
        let before = test.source.revision.number
        test.source.compact()
        #expect(test.source.revision.isPlain)
        #expect(test.source.revision.number > before)
        try fresh.load(model.text)
        #expect(try test.world(2).clusterIds == fresh.world(2).clusterIds)
        try expectEqual(test, fresh)
    }
}
