// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import SourceEngine

/// Items of a log that change so much that all clusters are made again, beside the features that stay as they are.
@Suite("Large items") struct LargeItemTests {
    static let options = [
        #"{"radius":60}"#,
        #"{"radius":60,"clusterIds":"origin","indexedProperties":{"n":["get","n"]}}"#,
        #"{"radius":60,"partitionBy":["get","kind"],"clusterProperties":{"most":["max",["get","n"]]}}"#,
        #"{"radius":60,"filter":["<",["get","n"],9],"weight":["+",1,["get","n"]]}"#,
        #"{"radius":60,"views":{"bars":{"filter":["==",["get","kind"],"bar"]},"wide":{"radius":90}}}"#,
    ]

    @Test(
        "answers are those of a load of the resulting features, through snapshots and restarts", arguments: options)
    func equal(_ options: String) throws {
        var random = SeededRandom(seed: UInt64(options.utf8.count))
        let (kept, fresh) = (try KeptSources(isQuick: true), try KeptSources(isQuick: true))
        try kept.create(options: options)
        try kept.source().load(towns(3000))
        var claim = FeedClaim(log: "log") {}
        _ = try kept.source().follow(by: claim, .never)
        var next = 3000
        var sawDelta = false
        for round in 0..<6 {
            // Now and then few changes, new features, and features that are gone.
            let few = round % 4 == 3
            let items = (0..<40).map { (item: Int) -> LogItem in
                let features = (0..<(few ? 1 : 40)).map { (_: Int) -> String in
                    var id = random.below(3000)
                    if random.below(50) == 0 { (id, next) = (next, next + 1) }
                    return Self.feature(id, &random)
                }
                let removals = round > 4 && item == 7 ? [FeatureIdentifier(.number(Double(round)))] : []
                return LogItem(
                    position: "\(round).\(item)", upserts: Array("[\(features.joined(separator: ","))]".utf8),
                    removals: removals.compactMap { $0 })
            }
            // Two records of the journal, which a restart makes again together.
            for half in [items.prefix(20), items.suffix(20)] {
                _ = try kept.source().apply(Array(half), of: claim, .skip, .never)
            }
            let revision = try kept.source().revision
            if revision.view.index.isPlain, !revision.store.isPlain { sawDelta = true }
            try expectEqual(kept, fresh, options, "round \(round)")
            let seen = kept.seen()
            if round % 3 == 1 {
                try kept.source().saveLater()
                kept.wait()
                // A view of some features has points of its own, and keeps the delta.
                if round == 1, !options.contains("views") { #expect(try kept.source().revision.store.changeCount == 0) }
                #expect(kept.seen() == seen, "saved in round \(round)")
            }
            if round % 3 == 2 {
                let said = kept.said()
                try kept.restart()
                #expect(kept.said() == said, "restarted in round \(round)")
                let counts = kept.registry.shared.updates.counts
                #expect(counts.no == 1 && counts.yes == 0, "both records were made again at once")
                claim = FeedClaim(log: "log") {}
                let found = try kept.source().follow(by: claim, .never)
                #expect(found.position == "\(round).39")
            }
        }
        // With a filter every round removes features.
        #expect(sawDelta || options.contains("weight"))
    }

    @Test("what changes while a snapshot is written stays beside it") func during() throws {
        var random = SeededRandom(seed: 5)
        let kept = try KeptSources(isQuick: true)
        let fresh = try KeptSources(isQuick: true)
        let source = try kept.create(options: Self.options[0])
        try source.load(towns(3000))
        let claim = FeedClaim(log: "log") {}
        _ = try source.follow(by: claim, .never)
        func apply(_ count: Int, _ position: String) throws {
            let features = (0..<count).map { _ in Self.feature(random.below(3000), &random) }
            let item = LogItem(
                position: position, upserts: Array("[\(features.joined(separator: ","))]".utf8), removals: [])
            _ = try source.apply([item], of: claim, .reject, .never)
        }
        try apply(1500, "a")
        let earlier = source.revision
        let folded = try #require(earlier.folded(spill: nil))
        #expect(folded.isPlain)
        try apply(1200, "b")
        try apply(3, "c")
        try source.withChangeLock { () throws(SourceError) in source.fold(earlier, onto: folded) }
        #expect(source.revision.store.plainBase === folded.store)
        #expect(source.revision.store.changeCount <= 1203)
        try expectEqual(kept, fresh, Self.options[0], "folded")
        try apply(1100, "d")
        try expectEqual(kept, fresh, Self.options[0], "changed after that")
        try kept.restart()
        try expectEqual(kept, fresh, Self.options[0], "restarted")
    }

    /// Also in an area so small that a search for the edge meets most points.
    @Test("the data's edge follows points that leave it, stay on it or pass it", arguments: [1, 0.0001])
    func edge(_ scale: Double) throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create(options: Self.options[0])
        // Columns of 60 points, so that many are on each edge.
        var places = (0..<3000).map { (x: Double($0 % 50), y: Double($0 / 50)) }
        func text(_ ids: some Sequence<Int>) -> String {
            "[\(ids.map { point($0, places[$0].x * scale, places[$0].y * scale, "{}") }.joined(separator: ","))]"
        }
        try source.load(text(places.indices))
        let claim = FeedClaim(log: "log") {}
        _ = try source.follow(by: claim, .never)
        // Inside, so many that all is clustered again.
        let inner = places.indices.filter { (10..<40).contains(places[$0].x) && (10..<50).contains(places[$0].y) }
        let east = places.indices.filter { places[$0].x == 49 }
        let moves: [(name: String, move: () -> [Int])] = [
            ("nothing at the edge", { [] }),
            (
                "along the edge",
                {
                    places[0].y = 20.5
                    return [0]
                }
            ),
            (
                "all of an edge leave it",
                {
                    for id in east { places[id].x = 47.25 }
                    return east
                }
            ),
            (
                "beyond two edges",
                {
                    places[70] = (-3.5, 70)
                    return [70]
                }
            ),
            (
                "back again",
                {
                    places[70] = (5, 5)
                    return [70]
                }
            ),
        ]
        for (name, move) in moves {
            for id in inner { places[id].x += 0.01 }
            let item = LogItem(position: name, upserts: Array(text(inner + move()).utf8), removals: [])
            _ = try source.apply([item], of: claim, .reject, .never)
            let revision = source.revision
            #expect(revision.view.index.isPlain && !revision.store.isPlain, "\(name): all is clustered again")
            let (x, y) = (places.map { $0.x * scale }, places.map { $0.y * scale })
            let box = Box(
                west: x.min() ?? 0, south: y.min() ?? 0, east: x.max() ?? 0, north: y.max() ?? 0)
            #expect(revision.view.bounds == box, "\(name)")
        }
    }

    private static func feature(_ id: Int, _ random: inout SeededRandom) -> String {
        let kinds = ["bar", "café", "hotel"]
        let n = random.below(11)
        return point(
            id, Double(random.below(3000) - 1500) / 10, Double(random.below(1600) - 800) / 10,
            "{\"n\":\(n),\"kind\":\"\(kinds[n % 3])\"}")
    }

    /// Compares a source, and its views, with one that is loaded with its features.
    private func expectEqual(
        _ kept: KeptSources, _ fresh: KeptSources, _ options: String, _ comment: String
    ) throws {
        let revision = try kept.source().revision
        let features = (0..<revision.store.count).filter { !revision.store.isRemoved($0) }.map { row in
            var bytes = ByteWriter()
            revision.store.writeSent(row, into: &bytes)
            return bytes.string
        }
        if (try? fresh.source()) == nil { try fresh.create(options: options) }
        try fresh.source().load("[" + features.joined(separator: ",") + "]")
        #expect(
            Self.withoutPosition(kept.said()) == Self.withoutPosition(fresh.said()), "\(comment)")
        let index = try revision.identifierIndex(.never)
        for row in stride(from: 0, to: revision.store.count, by: 97) where !revision.store.isRemoved(row) {
            let identifier = try #require(revision.store.featureIdentifier(row))
            #expect(Array(index.rows(of: identifier, in: revision.store)) == [row], "\(comment)")
        }
        try NamedViews.expectEqual(kept.source(), comment)
    }

    private static func withoutPosition(_ text: String) -> String {
        text.replacing(#/,"position":"[\w.]+"/#, with: "").split(separator: "\n").map { line in
            var line = line
            while let last = line.last, ",]}".contains(last) { line.removeLast() }
            return String(line)
        }.joined(separator: "\n")
    }
}
