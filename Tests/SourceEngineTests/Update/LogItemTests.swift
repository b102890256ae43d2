// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import SourceEngine

/// Items of a feed's log, applied together.
@Suite("Log items") struct LogItemTests {
    /// Options under which features are left out, folded, sorted or have several rows.
    static let options = [
        #"{"radius":60}"#,
        #"{"radius":60,"sortKey":["id"],"clusterIds":"origin","filter":["<",["coalesce",["get","n"],0],8]}"#,
        #"{"radius":60,"partitionBy":["get","kind"],"clusterProperties":{"most":["max",["get","n"]]}}"#,
        #"{"radius":60,"weight":["case",["==",["get","kind"],"zoo"],0,1]}"#,
        #"{"radius":60,"geometries":"multipoint"}"#,
    ]

    @Test("a new log finds the index ready for updates, a known one does not wait for that") func readyForNewLogs()
        throws
    {
        let kept = try KeptSources(isQuick: true)
        try kept.create(options: "{}").load(towns(1200))
        let source = try kept.source()
        let before = source.revision.view.index.memoryBytes
        let claim = FeedClaim(log: "log") {}
        #expect(try source.follow(by: claim, .never).position == nil)
        #expect(source.revision.view.index.memoryBytes > before, "no level is in memory")
        let moved = LogItem(position: "1", upserts: Array("[\(point(7, 3, 4))]".utf8), removals: [])
        #expect(try source.apply([moved], of: claim, .reject, .never).position == "1")
        // A load leaves the positions of feeds.
        try source.load(towns(1200))
        #expect(try source.follow(by: FeedClaim(log: "log") {}, .never).position == "1")
        #expect(source.revision.view.index.memoryBytes == before)
    }

    @Test(
        "together they do what they do one after another, through restarts",
        arguments: zip(options.indices, options).map { $0 })
    func together(_ seed: Int, _ options: String) throws {
        var random = SeededRandom(seed: UInt64(seed + 1))
        let (kept, model) = (try KeptSources(isQuick: true), try KeptSources(isQuick: true))
        for sources in [kept, model] {
            try sources.create(options: options)
            try sources.source().load(towns(120))
        }
        var claim = FeedClaim(log: "log") {}
        _ = try kept.source().follow(by: claim, .never)
        var number = 0
        for round in 0..<60 {
            let policy: InvalidFeaturePolicy = random.below(3) == 0 ? .reject : .skip
            let drafts = (0..<1 + random.below(12)).map { _ in Draft(&random, isMulti: seed == 4) }
            let items = drafts.enumerated().map { $1.item("p\(number + $0)") }
            let applied = try kept.source().apply(items, of: claim, policy, .never)
            let expected = try Self.follow(drafts, policy, model.source())
            #expect(applied.counts == expected.counts, "round \(round), \(policy), \(drafts)")
            #expect(applied.rejected?.index == expected.rejected, "round \(round), \(drafts)")
            let reached = expected.rejected ?? items.count
            #expect(applied.position == (reached > 0 ? "p\(number + reached - 1)" : nil))
            if reached > 0 { number += reached }
            #expect(
                try Self.identifiers(kept.source()) == Self.identifiers(model.source()), "round \(round), \(drafts)")
            #expect(
                Self.withoutPosition(kept.said()) == Self.withoutPosition(model.said()), "round \(round), \(drafts)")
            if round % 7 == 6 {
                let seen = kept.seen()
                try kept.restart()
                #expect(kept.seen() == seen, "round \(round)")
                claim = FeedClaim(log: "log") {}
                let found = try kept.source().follow(by: claim, .never)
                #expect(found.position == (number > 0 ? "p\(number - 1)" : nil))
            }
        }
    }

    /// The items one after another, by updates.
    private static func follow(
        _ drafts: [Draft], _ policy: InvalidFeaturePolicy, _ source: Source
    ) throws -> (counts: LogCounts, rejected: Int?) {
        var counts = LogCounts()
        for (index, draft) in drafts.enumerated() {
            var draft = draft
            let isWeighted = source.revision.options.weight != nil
            let invalid = draft.features.filter { !$0.isValid || isWeighted && $0.n % 4 == 3 }.count
            if policy == .reject, invalid > 0 { return (counts, index) }
            draft.features.removeAll { !$0.isValid || isWeighted && $0.n % 4 == 3 }
            let outcome = try source.update(
                upserts: draft.item("").upserts, removals: draft.item("").removals, .never)
            counts.inserted += outcome.inserted
            counts.updated += outcome.updated
            counts.removed += outcome.removed
            counts.missing += outcome.missing
            counts.skipped += invalid
        }
        return (counts, nil)
    }

    private static func withoutPosition(_ text: String) -> String {
        text.replacing(#/,"position":"p\d+"/#, with: "").split(separator: "\n").map { line in
            var line = line
            while let last = line.last, ",]}".contains(last) { line.removeLast() }
            return String(line)
        }.joined(separator: "\n")
    }

    private static func identifiers(_ source: Source) -> [String] {
        let store = source.revision.store.plain(spill: nil)
        return (0..<store.count).map { row in
            var text = ByteWriter()
            store.featureIdentifier(row)?.write(into: &text)
            return text.string
        }
    }

    /// An item before it is written.
    struct Draft: CustomStringConvertible {
        struct Feature {
            let id: Int
            let isValid: Bool
            let n: Int
            let position: (Int, Int)
        }

        var features: [Feature]
        let removals: [Int]
        let isMulti: Bool

        init(_ random: inout SeededRandom, isMulti: Bool) {
            self.isMulti = isMulti
            features = (0..<random.below(6)).map { _ in
                Feature(
                    id: random.below(140), isValid: random.below(25) > 0, n: random.below(11),
                    position: (random.below(300) - 150, random.below(160) - 80))
            }
            let upserted = Set(features.map(\.id))
            removals = (0..<random.below(4)).map { _ in random.below(140) }.filter { !upserted.contains($0) }
        }

        func item(_ position: String) -> LogItem {
            let kinds = ["bar", "café", "hotel", "zoo"]
            let texts = features.map { feature in
                if isMulti, feature.n > 8, feature.isValid {
                    let places = (0..<1 + feature.n % 3 + feature.id % 3).map { "[\($0),\(feature.position.1)]" }
                    return #"{"type":"Feature","id":\#(feature.id),"geometry":{"type":"MultiPoint","coordinates":"#
                        + "[\(places.joined(separator: ","))]},\"properties\":null}"
                }
                return point(
                    feature.id, Double(feature.position.0), feature.isValid ? Double(feature.position.1) : 95,
                    "{\"n\":\(feature.n),\"kind\":\"\(kinds[feature.n % 4])\"}")
            }
            return LogItem(
                position: position, upserts: Array("[\(texts.joined(separator: ","))]".utf8),
                removals: removals.compactMap { FeatureIdentifier(.number(Double($0))) })
        }

        var description: String { "+\(features.map { "\($0.id):\($0.n)\($0.isValid ? "" : "!")" }) -\(removals)" }
    }

    // MARK: One at a time

    private func apply(
        _ items: (String, [String], [Int])..., to source: Source, _ claim: FeedClaim,
        _ policy: InvalidFeaturePolicy = .reject
    ) throws -> AppliedItems {
        let items = items.map { position, features, removals in
            LogItem(
                position: position, upserts: Array("[\(features.joined(separator: ", "))]".utf8),
                removals: removals.compactMap { FeatureIdentifier(.number(Double($0))) })
        }
        return try source.apply(items, of: claim, policy, .never)
    }

    @Test("a removed feature that is inserted again comes last, also after a restart") func again() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load(list(point(1, 0, 0), point(2, 10, 10), point(3, 20, 20)))
        let claim = FeedClaim(log: "log") {}
        let applied = try apply(
            ("a", [], [1]), ("b", [point(1, 30, 30), point(4, 1, 1)], []), ("c", [point(1, 40, 40)], [9]), to: source,
            claim)
        #expect(applied.counts.inserted == 2)
        #expect(applied.counts.updated == 1)
        #expect(applied.counts.removed == 1)
        #expect(applied.counts.missing == 1)
        #expect(Self.identifiers(source) == ["2", "3", "1", "4"])
        try kept.restart()
        #expect(try Self.identifiers(kept.source()) == ["2", "3", "1", "4"])
        #expect(try kept.source().revision.position == "c")
    }

    @Test("an item without changes stores its position and makes no revision") func withoutChanges() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load(list(point(1, 0, 0)))
        let number = source.revision.number
        let claim = FeedClaim(log: "l\u{e9}\"g") {}
        _ = try apply(("\u{1F600}", [], []), ("z\"", [], [7]), to: source, claim)
        #expect(source.revision.number == number)
        #expect(source.revision.position == "z\"")
        #expect(source.hasReached("\u{1F600}"))
        #expect(!source.hasReached("other"))
        try kept.restart()
        #expect(try kept.source().revision.position == "z\"")
        #expect(try kept.source().hasReached("z\""))
    }

    @Test("positions of several logs outlast other changes, imports, snapshots and restarts") func logs() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        let (one, two) = (FeedClaim(log: "one") {}, FeedClaim(log: "two") {})
        _ = try apply(("1", [point(1, 0, 0)], []), to: source, one)
        _ = try apply(("2", [point(2, 5, 5)], []), to: source, two)
        _ = try apply(("3", [], []), to: source, one)
        #expect(source.revision.position == "3")
        func check(_ what: String) throws {
            let logs = try kept.source().revision.logs
            #expect(logs[.feed("one")]?.position == "3", "\(what)")
            #expect(logs[.feed("two")]?.position == "2", "\(what)")
            #expect(logs.latest?.origin == .feed("one"), "\(what)")
        }
        try source.change(upsert: list(point(7, 1, 1)), remove: [1])
        try check("update")
        try kept.restart()
        try check("restart after an update")
        try kept.source().load(towns(10))
        try check("import")
        try kept.restart()
        try check("restart after an import")
        _ = try kept.source().update(options: SourceOptions(reading: ["radius": 30]), .never)
        try kept.source().saveLater()
        try kept.restart()
        try check("options and a snapshot")
        #expect(try kept.source().revision.pointCount == 10)
    }

    @Test("of items with an invalid feature those before it are applied, and it is named in its item")
    func rejected() throws {
        let test = try TestSource(options: #"{"weight":["get","w"]}"#)
        let claim = FeedClaim(log: "log") {}
        let good = point(1, 0, 0, #"{"w":1}"#)
        func named(_ bad: String) throws -> (Int?, Int?, String?) {
            let applied = try apply(
                ("a", [good], []), ("b", [good, bad, good], [5]), ("c", [bad], []), to: test.source, claim)
            #expect(applied.position == "a")
            guard case .badFeature(let index, let reason, _, _)? = applied.rejected?.error else {
                return (applied.rejected?.index, nil, nil)
            }
            return (applied.rejected?.index, index, reason)
        }
        #expect(try named(point(2, 0, 99, #"{"w":1}"#)) == (1, 1, "latitudeOutOfRange"))
        #expect(try named(point(2, 0, 9, #"{"w":-1}"#)) == (1, 1, "badWeight"))
        let anonymous = #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,1]},"properties":{"w":1}}"#
        #expect(try named(anonymous) == (1, 1, "noIdentifier"))
        #expect(test.source.revision.pointCount == 1)
        let skipped = try apply(
            ("d", [point(1, 0, 99), good, point(1, 0, 0, #"{"w":0}"#), anonymous], []), to: test.source, claim, .skip)
        #expect(skipped.position == "d")
        #expect(skipped.counts.skipped == 3)
        #expect(skipped.counts.updated == 1)
        #expect(test.source.revision.pointCount == 1)
        let both = try apply(("e", [good], [1]), to: test.source, claim, .skip)
        #expect(both.position == nil)
        #expect(both.rejected?.error.description == "params.remove[0]: is also among the features to upsert")
    }

    @Test("a log has one stream: a later one takes it, and nothing of the former is applied after that")
    func takeover() throws {
        let test = try TestSource()
        let first = FeedClaim(log: "log") {}
        #expect(try test.source.follow(by: first, .never).position == nil)
        _ = try apply(("a", [point(1, 0, 0)], []), to: test.source, first)
        let second = FeedClaim(log: "log") {}
        #expect(try test.source.follow(by: second, .never).position == "a")
        #expect(first.isLost)
        #expect(throws: SourceError.self) { try apply(("b", [point(2, 0, 0)], []), to: test.source, first) }
        #expect(test.source.revision.position == "a")
        test.source.release(first)
        #expect(test.source.description.feeds.map(\.isOpen) == [true])
        test.source.release(second)
        #expect(test.source.description.feeds.map(\.isOpen) == [false])
        #expect(!second.isLost)
    }

    @Test("a source has so many logs and no more") func mostLogs() throws {
        let test = try TestSource()
        for number in 0..<Feeds.mostLogs {
            let claim = FeedClaim(log: "\(number)") {}
            _ = try test.source.follow(by: claim, .never)
            _ = try apply(("p", [], []), to: test.source, claim)
            test.source.release(claim)
        }
        #expect(throws: SourceError.self) { try test.source.follow(by: FeedClaim(log: "more") {}, .never) }
        _ = try test.source.follow(by: FeedClaim(log: "7") {}, .never)
    }

    @Test("the last 65,536 positions are known") func recent() {
        var recent = RecentPositions()
        for number in 0..<RecentPositions.most + 10 { recent.add("\(number)") }
        recent.add("12")
        #expect(!recent.contains("10"))
        #expect(recent.contains("11"))
        #expect(recent.contains("12"))
        #expect(recent.contains("\(RecentPositions.most + 9)"))
        #expect(!recent.contains(""))
    }

    @Test("changes are counted over ten seconds") func rate() {
        var rate = ChangeRate()
        let now = ContinuousClock.now + .seconds(100)
        rate.add(30, at: now)
        rate.add(20, at: now + .seconds(5))
        #expect(rate.perSecond(at: now + .seconds(6)) == 5)
        #expect(rate.perSecond(at: now + .seconds(12)) == 2)
        #expect(rate.perSecond(at: now + .seconds(30)) == 0)
    }
}
