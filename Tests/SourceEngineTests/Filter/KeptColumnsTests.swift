// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Kept columns") struct KeptColumnsTests {
    private static func filter(above limit: Int) -> String { #"[">",["get","value"],\#(limit)]"# }

    private func columns(_ test: TestSource) -> CacheStatistics { test.registry.caches.columns }

    @Test("a second filter reads no property again") func aSecondFilterReadsNoPropertyAgain() throws {
        let test = try TestSource()
        try test.load(list(GoldenDataset.points(kind: "u", count: 300, seed: 5)))
        _ = try test.world(3, filter: Self.filter(above: 10))
        #expect(columns(test) == CacheStatistics(hits: 0, misses: 1, bytes: columns(test).bytes))
        #expect(columns(test).bytes ?? 0 >= 300 * 9)
        _ = try test.world(3, filter: Self.filter(above: 20))
        #expect(columns(test).hits == 1)
        #expect(columns(test).misses == 1)
        _ = try test.world(3, filter: #"["all",["has","category"],[">",["get","value"],30]]"#)
        #expect(columns(test).hits == 2)
        #expect(columns(test).misses == 2)
    }

    @Test("loading alone caches nothing") func nothingIsKeptOfALoadAlone() throws {
        let test = try TestSource(options: #"{"clusterProperties":{"sum":["+",["get","value"]]}}"#)
        try test.load(list(GoldenDataset.points(kind: "u", count: 300, seed: 5)))
        #expect(test.registry.filterCacheBytes == 0)
        // What the options read is at hand.
        _ = try test.world(3, filter: Self.filter(above: 10))
        #expect(columns(test) == CacheStatistics(hits: 0, misses: 0, bytes: 0))
    }

    @Test("other features have other columns") func otherFeaturesHaveOtherColumns() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0, #"{"value":50}"#), point(2, 90, 0)))
        #expect(try test.world(0, filter: Self.filter(above: 10)).features.count == 1)
        try test.load(list(point(1, 0, 0, #"{"value":5}"#), point(2, 90, 0)))
        #expect(columns(test).bytes == 0)
        #expect(try test.world(0, filter: Self.filter(above: 10)).features.isEmpty)
        try test.registry.delete(test.source.name)
        #expect(test.registry.filterCacheBytes == 0)
    }

    /// Sources that are updated, appended to and compacted give the same answers as sources that read everything for
    /// each filter.
    @Test("answers equal those of newly read columns", arguments: 0..<6)
    func answersAreThoseOfColumnsReadAnew(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let kept = try TestSource()
        let start = (0..<400).map { Self.feature($0, &random) }
        try kept.load(array(start))
        for round in 0..<12 {
            var upserts = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Self.feature(Int.random(in: 0..<420, using: &random), &random)
            }
            if round % 3 == 0 { upserts.append(Self.feature(500 + round, &random)) }
            let gone = (0..<2).compactMap { _ in
                FeatureIdentifier(.number(Double(Int.random(in: 0..<420, using: &random))))
            }
            _ = try kept.update(upsert: array(unique(upserts)))
            _ = try kept.update(remove: gone)
            if round == 7 { kept.source.compact() }
            let filters = [
                Self.filter(above: Int.random(in: 0..<100, using: &random)),
                #"["==",["get","category"],"\#(Self.category(&random))"]"#,
                #"["==",["to-string",["get","other"]],"[\#(Int.random(in: 0..<3, using: &random))]"]"#,
                #"["!",["has","value"]]"#,
            ]
            let before = columns(kept).misses
            for filter in filters {
                let revision = kept.source.revision
                let query = QueryFilter(try JSONReader.parse(filter))
                let members = try revision.view(query, zoom: 3, .never).members
                let emptyCache = FilterCache(budget: 0)
                let expression = try query.compiled()
                let memory = MemoryBudget(MemoryBudget.Limit())
                let fresh = try KeptColumns(
                    cache: emptyCache, store: revision.store.plain(), memory: memory, threads: 2
                ).columns(
                    reading: expression.propertyNames,
                    beside: SourceColumns(revision.store.plain(), reading: [], threads: 2, .never), .never
                ).columns
                let rows = try fresh.passing(expression, of: revision.store.plain(), threads: 1, .never)
                let living = revision.store.livingRows ?? Array(0..<UInt32(revision.store.count))
                #expect(members ?? living == rows.map { living[Int($0)] }, "\(filter) in round \(round)")
            }
            if round > 0, round != 7 { #expect(columns(kept).misses == before, "round \(round)") }
        }
    }

    private static func category(_ random: inout SeededRandom) -> String {
        ["cafe", "school", "caf\u{e9}", "", "a\\\"b"].randomElement(using: &random) ?? ""
    }

    private static func feature(_ id: Int, _ random: inout SeededRandom) -> String {
        var members: [String] = []
        if Bool.random(using: &random) {
            members.append(#""value":\#(Int.random(in: 0..<100, using: &random))"#)
        }
        if Bool.random(using: &random) { members.append(#""category":"\#(category(&random))""#) }
        if Bool.random(using: &random) {
            members.append(#""other":[\#(Int.random(in: 0..<3, using: &random))]"#)
        }
        members.shuffle(using: &random)
        return point(
            id, Double.random(in: -180..<180, using: &random), Double.random(in: -80..<80, using: &random),
            "{" + members.joined(separator: ",") + "}")
    }

    private func array(_ features: [String]) -> String { "[" + features.joined(separator: ",") + "]" }

    /// Each id once, the first.
    private func unique(_ features: [String]) -> [String] {
        var seen: Set<Substring> = []
        return features.filter { seen.insert($0.prefix { $0 != "g" }).inserted }
    }
}
