// SPDX-License-Identifier: MIT
import JSON
import SourceTestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Compaction") struct CompactionTests {
    /// Compacts while updates of 50 features arrive, each of others than before.
    ///
    /// - Parameter updates: how many arrive before a round.
    /// - Returns: the most rows that were applied while updates had to wait, and the number of rounds.
    private func compact(_ updates: (_ round: Int) -> Int) throws -> (most: Int, rounds: Int) {
        let (test, fresh) = (try TestSource(), try TestSource())
        try test.load(towns(6000))
        _ = try test.update(upsert: towns(1, from: 6000))
        var failure: (any Error)?
        var (next, rounds, last) = (0, 0, 0)
        let most = test.source.compact { round in
            (rounds, last) = (round + 1, updates(round))
            for _ in 0..<last {
                next = (next + 50) % 5900
                do { _ = try test.update(upsert: towns(50, from: next + 1)) } catch { failure = error }
            }
        }
        #expect(failure == nil)
        #expect(test.registry.updateCounts.rebuilt == 0)
        #expect(test.source.revision.pointCount == 6001)
        #expect(test.source.revision.isPlain == (rounds == 1 && last == 0))
        try fresh.load(towns(6001))
        #expect(try test.world(3).pointCounts.sorted() == fresh.world(3).pointCounts.sorted())
        // The next one begins from what this one has made.
        test.source.compact()
        #expect(test.source.revision.isPlain)
        #expect(test.source.revision.pointCount == 6001)
        #expect(try test.world(3).pointCounts.sorted() == fresh.world(3).pointCounts.sorted())
        return (most, rounds)
    }

    @Test("updates wait for few rows once it has caught up, however many rounds that takes", arguments: [0, 1, 3, 9])
    func fewWhileLocked(_ rounds: Int) throws {
        // Each round has three fifths of the updates of the last.
        let outcome = try compact { round in round < rounds ? [20, 12, 7, 4, 2, 1, 0, 0, 0][round] : 0 }
        #expect(outcome.most <= Source.rowsWhileLocked)
        #expect(outcome.rounds == min(rounds, 6) + 1)
    }

    @Test("it ends although updates arrive as fast as they are applied, or faster", arguments: [1, 6, 20])
    func ends(_ updates: Int) throws {
        let outcome = try compact { round in round < 1000 ? updates : 0 }
        #expect(outcome.rounds < 20)
        // Twice what arrives in a round at most, so that it ends as soon as it can.
        #expect(outcome.most <= 2 * 50 * updates)
    }

    /// Compacts only the clusters, while features move, come and go.
    ///
    /// - Parameters:
    ///   - options: the source's.
    ///   - updates: how many arrive before a round.
    private func compactClusters(_ options: String, _ updates: (_ round: Int) -> Int) throws -> Int {
        let (test, fresh) = (
            try TestSource(options: options, leastClusteredAlone: 0), try TestSource(options: options)
        )
        var features = (0..<3000).map { point($0, Double($0 % 170), Double($0 % 77), "{\"n\":\($0 % 13)}") }
        func change(_ step: Int) throws {
            let removed = (step * 7) % 3000
            let ids = Set((0..<40).map { (step * 131 + $0 * 17) % 3000 }).subtracting([removed]).sorted()
            // One that came again would come last.
            let moved = ids.filter { !features[$0].isEmpty }
            for (place, id) in moved.enumerated() {
                features[id] = point(id, Double((id + step) % 160) + 0.3, Double(place), "{\"n\":\(step % 11)}")
            }
            features.append(point(2999 + step, Double(step % 100), -Double(step % 50), "{\"n\":1}"))
            _ = try test.update(
                upsert: "[" + (moved + [2999 + step]).map { features[$0] }.joined(separator: ",") + "]",
                remove: [try #require(FeatureIdentifier(.number(Double(removed))))])
            features[removed] = ""
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        _ = try test.update(upsert: list(point(1, 5, 5, "{\"n\":2}")))
        features[1] = point(1, 5, 5, "{\"n\":2}")
        var failure: (any Error)?
        var (step, rounds) = (0, 0)
        let store = test.source.revision.store.plainBase
        let most = test.source.compact { round in
            rounds = round + 1
            for _ in 0..<updates(round) {
                step += 1
                do { try change(step) } catch { failure = error }
            }
        }
        #expect(failure == nil)
        #expect(rounds < 20)
        #expect(test.source.revision.store.plainBase === store, "the features stay where they are")
        #expect(test.source.revision.view.index.isPlain == (step == 0))
        #expect(test.registry.updateCounts.rebuilt == 0)
        func expectEqual() throws {
            try fresh.load("[" + features.filter { !$0.isEmpty }.joined(separator: ",") + "]")
            for zoom in [0.0, 2, 4, 7, 17] {
                #expect(try seen(test, zoom) == seen(fresh, zoom), "zoom \(zoom)")
            }
        }
        try expectEqual()
        // What it made is followed like any other revision.
        try change(step + 1)
        try expectEqual()
        return most
    }

    /// What is shown, without ids of clusters.
    private func seen(_ test: TestSource, _ zoom: Double) throws -> [String] {
        try test.world(zoom).features.map { feature in
            var properties = feature["properties"] as? [String: Any] ?? [:]
            properties["cluster_id"] = nil
            let sorted = properties.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            let geometry = feature["geometry"] as? [String: Any]
            return "\(geometry?["coordinates"] ?? "") \(sorted)"
        }.sorted()
    }

    @Test(
        "only the clusters of many features are made again, with the changes meanwhile",
        arguments: [
            "{}", #"{"clusterProperties":{"sum":["+",["get","n"]],"most":["max",["get","n"]]}}"#,
            #"{"weight":["+",1,["get","n"]],"maxZoom":9}"#,
        ], [0, 1, 4])
    func clustersAlone(_ options: String, _ rounds: Int) throws {
        let most = try compactClusters(options) { round in round < rounds ? 8 - 2 * round : 0 }
        #expect(most <= 512)
    }

    @Test("it ends although more changes arrive in each round", arguments: [1, 15])
    func clustersAloneEnd(_ updates: Int) throws {
        _ = try compactClusters("{}") { _ in updates }
    }

    @Test(
        "features are compacted too where points are no rows, or clusters have more than positions",
        arguments: [
            #"{"sortKey":["get","n"]}"#, #"{"partitionBy":["get","n"]}"#,
            #"{"indexedProperties":{"n":["get","n"]}}"#,
            #"{"views":{"few":{"filter":["<",["get","n"],3]}}}"#,
        ])
    func notAlone(_ options: String) throws {
        let test = try TestSource(options: options, leastClusteredAlone: 0)
        try test.load(towns(500))
        _ = try test.update(upsert: towns(3, from: 20))
        test.source.compact()
        #expect(test.source.revision.isPlain)
        let removing = try TestSource(leastClusteredAlone: 0)
        try removing.load(towns(500))
        _ = try removing.update(remove: [try #require(FeatureIdentifier(.number(7)))])
        removing.source.compact()
        #expect(removing.source.revision.isPlain)
    }

    @Test("an import ends it") func replaced() throws {
        let test = try TestSource()
        try test.load(towns(100))
        _ = try test.update(upsert: towns(1))
        var failure: (any Error)?
        test.source.compact { round in
            guard round == 0 else { return }
            do { try test.load(towns(7)) } catch { failure = error }
        }
        #expect(failure == nil)
        #expect(test.source.revision.pointCount == 7)
        _ = try test.update(upsert: towns(1, from: 8))
        test.source.compact()
        #expect(test.source.revision.isPlain)
        #expect(test.source.revision.pointCount == 8)
    }

    @Test("one that has become useless takes none of the next one's changes") func two() throws {
        let (test, fresh) = (try TestSource(leastClusteredAlone: 0), try TestSource())
        // The last one is alone, wherever it is: its move makes no other clusters.
        var features = (0..<2000).map { point($0, Double($0 * 37 % 300) - 150, Double($0 * 13 % 120) - 60) }
        features[1999] = point(1999, -160, -84)
        try test.load("[" + features.joined(separator: ",") + "]")
        func move(_ ids: Range<Int>) throws {
            for id in ids { features[id] = point(id, Double(id % 9), Double(id % 7)) }
            _ = try test.update(upsert: "[" + features[ids].joined(separator: ",") + "]")
        }
        try move(0..<20)
        var (failure, next): ((any Error)?, Revision?) = (nil, nil)
        test.source.compact { round in
            guard round == 0 else { return }
            do {
                // The new revision replaces one whose changes since the compaction began are forgotten.
                features[1999] = point(1999, -150, -84)
                _ = try test.update(upsert: "[\(features[1999])]")
                let options = #"{"views":{"east":{"filter":[">=",["id"],1000]}}}"#
                _ = try test.source.update(options: SourceOptions(reading: JSONReader.parse(options)), .never)
                next = test.source.beginCompaction()
                try move(40..<60)
            } catch { failure = error }
        }
        #expect(failure == nil)
        test.source.compact(try #require(next, "the next one did not begin"))
        try fresh.load("[" + features.joined(separator: ",") + "]")
        for zoom in [0.0, 3, 6, 9, 17] {
            #expect(try test.world(zoom).pointCounts.sorted() == fresh.world(zoom).pointCounts.sorted(), "zoom \(zoom)")
        }
        let around = ClustersQuery(
            box: Box(west: -151, south: -85, east: -149, north: -83), zoom: 17, output: FeatureOutput())
        #expect(try test.clusters(around).features.count == 1, "the moved point is not where it is")
        // No later one begins from anything else.
        try move(60..<80)
        test.source.compact()
        try fresh.load("[" + features.joined(separator: ",") + "]")
        for zoom in [0.0, 3, 6, 9, 17] {
            #expect(try test.world(zoom).pointCounts.sorted() == fresh.world(zoom).pointCounts.sorted(), "zoom \(zoom)")
        }
    }
}
