// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import Clustering
@testable import ImageStore
@testable import SourceEngine

/// Named views must be the same after a restart, from a snapshot, a journal, a checkpoint or damaged files.
@Suite("Stored views") struct StoredViewTests {
    private static let views = #"""
        {"wide":{"radius":90,"maxZoom":9}, "triples":{"minPoints":3},
         "bars":{"filter":["==",["get","kind"],"bar"]},
         "sorted":{"sortKey":["-",0,["get","n"]],"precision":"fixed"},
         "few":{"filter":[">",["get","n"],7],"sortKey":["get","kind"],"clusterIds":"origin"},
         "sums":{"partitionBy":["get","kind"],"weight":["+",1,["get","n"]],
                 "clusterProperties":{"sum":["+",["get","n"]]}}}
        """#

    private static let sources = ["", #""sortKey":["get","n"],"#, #""indexedProperties":{"n":["get","n"]},"#]

    private static func options(_ source: String, _ views: String = views) -> String { "{\(source)\"views\":\(views)}" }

    private static func change(_ number: Int, _ source: Source) throws {
        let first = number * 37 % 280
        switch number % 3 {
        case 0: try source.change(upsert: towns(4, from: first))
        case 1: try source.change(remove: [.number(Double(first)), .number(Double(first + 1))])
        default: try source.change(upsert: "[\(point(first, 30, 40, #"{"n":9,"kind":"bar"}"#))]")
        }
    }

    /// The changes that a start would replay.
    private static func recovered(_ kept: KeptSources) throws -> [JournalRecord.Entry] {
        let shared = try kept.source().shared
        return try RecoveredSource.read("\(kept.path)/sources/test", shared: shared, checking: false).changes
    }

    /// What each view answers, with its clusters' ids.
    private static func seen(_ kept: KeptSources) throws -> [String: String] {
        var seen: [String: String] = [:]
        for view in try kept.source().revision.views {
            let texts = try [0.0, 5, 9, 17].map { try NamedViews.world(view, $0) }
            seen[view.name?.text ?? ""] = texts.joined().replacingOccurrences(
                of: #""revision":\d+"#, with: "", options: .regularExpression)
        }
        return seen
    }

    @Test("a restart serves views from the snapshot, without clustering", arguments: sources, [false, true])
    func snapshot(_ options: String, isOnDemand: Bool) throws {
        let kept = try KeptSources(isQuick: true, isOnDemand: isOnDemand)
        try kept.create(options: Self.options(options)).load(towns(300))
        let (seen, built) = (try Self.seen(kept), try kept.source().revision.views.map(\.buildMilliseconds))
        #expect(seen.count == 6)
        for _ in 0..<2 {
            try kept.restart()
            #expect(kept.reports.isEmpty, "\(kept.reports)")
            #expect(try Self.seen(kept) == seen)
            // They were not made again.
            #expect(try kept.source().revision.views.map(\.buildMilliseconds) == built)
            #expect(try kept.source().revision.isPlain)
        }
        try NamedViews.expectEqual(kept.source())
        for number in 0..<4 { try Self.change(number, kept.source()) }
        try NamedViews.expectEqual(kept.source(), "changed")
    }

    @Test("a replay gives the views of before, with checkpoints and without", arguments: sources, [0, .infinity])
    func journal(_ options: String, longestClustering: Double) throws {
        let kept = try KeptSources(longestClustering: longestClustering, isQuick: true)
        try kept.create(options: Self.options(options)).load(towns(300))
        for round in 0..<3 {
            for number in 0..<5 {
                try Self.change(round * 5 + number, kept.source())
                if number < 3 { kept.wait() }
            }
            let seen = try Self.seen(kept)
            try kept.restart()
            #expect(kept.reports.isEmpty, "\(kept.reports)")
            #expect(try Self.seen(kept) == seen, "round \(round)")
            try NamedViews.expectEqual(kept.source(), "round \(round)")
        }
        let hasCheckpoint = try kept.files().contains { $0.hasSuffix(".checkpoint") }
        #expect(hasCheckpoint == (longestClustering == 0))
    }

    @Test("changes of options, imports and updates are replayed in their order", arguments: [0, .infinity])
    func optionsInTheJournal(longestClustering: Double) throws {
        let kept = try KeptSources(longestClustering: longestClustering, isQuick: true)
        try kept.create(options: Self.options("")).load(towns(200))
        func update(_ options: String) throws {
            _ = try kept.source().update(options: SourceOptions(reading: JSONReader.parse(options)), .never)
        }
        for step in 0..<3 {
            // A snapshot would have the new options.
            let mayEnd = DispatchSemaphore(value: 0)
            try kept.source().jobs.run(.save) { mayEnd.wait() }
            defer { mayEnd.signal() }
            try Self.change(step, kept.source())
            try update(Self.options("", #"{"wide":{"radius":90},"new":{"minPoints":\#(step + 2)}}"#))
            try Self.change(step + 5, kept.source())
            if step == 1 { try kept.source().load(towns(5, from: 400), mode: .append) }
            mayEnd.signal()
            let options = try Self.recovered(kept).filter { if case .options = $0.record { true } else { false } }
            #expect(options.count == 1)
            try kept.restart()
            #expect(kept.reports.isEmpty, "\(kept.reports)")
            #expect(try kept.source().revision.views.compactMap { $0.name?.text } == ["wide", "new"])
            try NamedViews.expectEqual(kept.source(), "step \(step)")
        }
    }

    @Test("a snapshot without views, as releases before wrote it, is opened, and views are added to it")
    func withoutViews() throws {
        let kept = try KeptSources(isQuick: true)
        try kept.create().load(towns(200))
        try kept.restart()
        #expect(try kept.source().revision.views.isEmpty)
        let own = try kept.source().revision.view
        let options = try SourceOptions(reading: JSONReader.parse(Self.options("")))
        _ = try kept.source().update(options: options, .never)
        #expect(try kept.source().revision.view === own)
        kept.wait()
        let seen = try Self.seen(kept)
        try kept.restart()
        #expect(try Self.seen(kept) == seen)
        try NamedViews.expectEqual(kept.source())
    }

    @Test("a damaged page of a view's index gives no wrong answer") func damage() throws {
        let kept = try KeptSources(isQuick: true, isOnDemand: true)
        try kept.create(options: Self.options("", #"{"a":{"radius":90},"b":{"filter":[">",["get","n"],5]}}"#))
            .load(towns(900))
        kept.wait()
        let (seen, path) = (try Self.seen(kept), kept.file("2.snapshot"))
        let intact = try Data(contentsOf: URL(fileURLWithPath: path))
        let opened = try OpenedSections(path)
        for number in 1...2 {
            for section in [IndexSection.spatialSlots, .children, .leaves, .parents] {
                let name = SnapshotSection.of(view: number, SnapshotSection.index(section))
                let range = try #require(opened.sections[name], "\(section)")
                var damaged = intact
                damaged[range.lowerBound + range.count / 2] ^= 0x10
                try kept.restart { try damaged.write(to: URL(fileURLWithPath: path)) }
                // Until the damage is noticed, the views that do not have it answer; then none does.
                let found = try? Self.seen(kept)
                kept.wait()
                for (view, text) in found ?? [:] where text != seen[view] {
                    #expect(try kept.source().fault != nil || kept.source().revision.isDamaged, "\(section)")
                }
                #expect(kept.reports.contains { $0.gravity == .error }, "\(section)")
                try kept.restart { try intact.write(to: URL(fileURLWithPath: path)) }
                #expect(try Self.seen(kept) == seen)
            }
        }
    }

    @Test("a view takes at most 66 bytes on disk per point that it shows") func diskSpace() throws {
        var random = PythonRandom(seed: 2)
        let points = (0..<30_000).map { id in
            point(id, random.uniform(-180, 180), random.uniform(-80, 80), #"{"n":\#(id % 10)}"#)
        }
        func size(_ options: String) throws -> Int {
            let kept = try KeptSources(isQuick: true)
            try kept.create(options: options).load("[" + points.joined(separator: ",") + "]")
            kept.wait()
            return try kept.files().reduce(0) { $0 + FileIO.size(kept.file($1)) }
        }
        let alone = try size("{}")
        for (view, count) in [(#"{"radius":60}"#, 30_000), (#"{"filter":["<",["get","n"],5]}"#, 15_000)] {
            let more = try size("{\"views\":{\"v\":\(view)}}") - alone
            #expect(more <= 66 * count, "\(view): \(Double(more) / Double(count))")
        }
    }
}
