// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import GeoJSON
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Answers
@testable import SourceStorage
@testable import Sources

@Suite("Sources that answer from an overview")
struct OverviewTests {
    private func loaded(_ options: String = "{}", textInMemory: Int = 1) throws -> KeptSources {
        let kept = try KeptSources(textInMemory: textInMemory, overviewPoints: 100)
        try kept.create(options: options).load(towns(300))
        kept.holdsReading = true
        return kept
    }

    /// Options whose answers take more than positions, counts and features.
    private static let rich = [
        #"{"clusterProperties":{"sum":["+",["get","n"]],"most":["max",["get","n"]],"mean":["mean",["get","n"]]}}"#,
        #"{"clusterProperties":{"all":["all",[">",["get","n"],0]],"count":["count",["get","n"]]},"minPoints":2}"#,
        #"{"clusterProperties":{"text":[["concat",["accumulated"],["get","text"]],["get","kind"]]}}"#,
        #"{"weight":["+",1,["get","n"]]}"#, #"{"partitionBy":["get","kind"]}"#,
        #"{"partitionBy":["get","kind"],"weight":["+",1,["get","n"]],"clusterProperties":{"n":["+",["get","n"]]}}"#,
        #"{"sortKey":["get","n"]}"#, #"{"sortKey":["-",0,["get","n"]],"generateId":true}"#,
        #"{"clusterIds":"origin"}"#, #"{"clusterIds":"origin","sortKey":["get","n"]}"#,
        #"{"generateId":true}"#, #"{"ttlSeconds":1e9}"#,
    ]

    private func answer(_ revision: Revision, _ zoom: Int) throws -> String {
        var bytes = ByteWriter()
        try revision.writeClusters(
            ClustersQuery(box: .world, zoom: Double(zoom)), of: revision.view, into: &bytes, .never)
        let tile = try #require(TilePlace(z: zoom, x: 0, y: 0))
        return bytes.string + (try revision.text(of: tile))
    }

    @Test(
        "it answers as the whole source does",
        arguments: [
            "{}", #"{"precision":"double","minPoints":3}"#, #"{"precision":"fixed","minZoom":2,"maxZoom":9}"#,
            #"{"filter":[">",["get","n"],2],"promoteId":"n"}"#,
            #"{"projection":{"planar":[-200,-100,300,200]}}"#,
        ] + Self.rich, [1, 1 << 20])
    func sameAnswers(_ options: String, _ textInMemory: Int) throws {
        let kept = try loaded(options, textInMemory: textInMemory)
        let whole = try kept.source().revision
        try kept.restart()
        let source = try kept.source()
        let overview = try #require(source.overview)
        #expect(source.isLoading && kept.registry.isLoading && source.description.state == .loading)
        for zoom in whole.options.minZoom...whole.options.maxZoom + 1 {
            #expect(overview.answers(at: Double(zoom)))
            #expect(try answer(overview.revision, zoom) == answer(whole, zoom))
        }
        #expect(overview.revision.number == whole.number && overview.revision.bounds == whole.bounds)
        #expect(overview.revision.pointCount == whole.pointCount)
        kept.readRest()
        #expect(try !kept.source().isLoading && !kept.registry.isLoading)
        #expect(try kept.source().description.state == .ready)
        #expect(try answer(kept.source().revision, 4) == answer(whole, 4))
        #expect(source.isRetired && source.current.isNone)
        #expect(kept.reports.map(\.gravity) == [.information])
    }

    @Test(
        "sources whose clusters' values are computed from all points have none, nor have small ones",
        arguments: [
            #"["distinct",["get","kind"]]"#, #"["histogram",["get","kind"]]"#, #"["median",["get","n"]]"#,
            #"["quantiles",[0.5,0.9],["get","n"]]"#,
        ])
    func unsuited(_ aggregate: String) throws {
        let kept = try loaded(#"{"clusterProperties":{"sum":["+",["get","n"]],"value":\#(aggregate)}}"#)
        try kept.create("small").load(towns(99))
        try kept.restart()
        for name in ["test", "small"] { #expect(try !kept.source(name).isLoading) }
        #expect(kept.reports.isEmpty)
    }

    @Test("sources with very many aggregated properties have none", arguments: [1024, 1025])
    func manyAggregates(_ count: Int) throws {
        let properties = (0..<count).map { "\"p\($0)\":[\"max\",[\"get\",\"n\"]]" }
        let options = "{\"maxZoom\":2,\"clusterProperties\":{\(properties.joined(separator: ","))}}"
        let kept = try loaded(options)
        try kept.restart()
        #expect(try kept.source().isLoading == (count == 1024))
    }

    /// Makes a change of a few features: moved, new, with other properties, and removed ones, among them those that low zooms show.
    private func change(_ source: Source, _ round: Int) throws {
        let moved = point(round * 7, Double(round * 31 % 300) - 150, 50, #"{"n":\#(round),"kind":"new"}"#)
        let renewed = point(round * 7 + 1, Double(round), 10, #"{"n":3,"kind":"bar"}"#)
        let added = point(1000 + round, 100 + Double(round) / 10, -20, #"{"n":4,"kind":"hotel"}"#)
        try source.change(
            upsert: "[\(moved),\(renewed),\(added)]", remove: [.number(Double(round * 7 + 3)), 299])
    }

    @Test(
        "after a kill with changes it answers as before, under the same revision, and so does the rest",
        arguments: ["{}", #"{"precision":"double"}"#, #"{"filter":[">",["get","n"],2]}"#] + rich, [1, 6, 20])
    func changes(_ options: String, _ count: Int) throws {
        let kept = try loaded(options)
        for round in 0..<count { try change(kept.source(), round) }
        try settle(kept)
        let before = try kept.source().revision
        let seen = kept.seen()
        try kept.restart()
        let source = try kept.source()
        // Changes that cluster everything again lead to other ids, which only a replay finds.
        guard !before.isPlain else {
            #expect(!source.isLoading && kept.seen() == seen)
            return
        }
        let overview = try #require(source.overview)
        #expect(source.description.state == .loading && overview.revision.number == before.number)
        #expect(overview.revision.pointCount == before.pointCount)
        #expect(overview.revision.bounds == before.bounds)
        for zoom in 0...17 where overview.answers(at: Double(zoom)) {
            #expect(try answer(overview.revision, zoom) == answer(before, zoom))
        }
        #expect(overview.answers(at: 5))
        kept.readRest()
        #expect(try !kept.source().isLoading)
        for zoom in 0...17 {
            #expect(try answer(kept.source().revision, zoom) == answer(before, zoom), "zoom \(zoom)")
        }
        try change(kept.source(), count)
        #expect(try kept.source().revision.number > before.number)
    }

    /// Lets the overview that is due be written, and none later.
    private func settle(_ kept: KeptSources) throws {
        try kept.source().saveOverviewLater()
        try kept.source().saveOverview()
        kept.wait()
    }

    @Test(
        "an overview that is not of the last change is ignored: of an earlier one, or of a later one that was lost"
    )
    func otherChange() throws {
        let kept = try loaded()
        let path = kept.file("overview")
        var saved: [Data] = []
        for round in 0..<4 {
            try change(kept.source(), round)
            try settle(kept)
            saved.append(try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        let seen = kept.seen()
        for (round, overview) in saved.enumerated() {
            try settle(kept)
            try kept.restart { try overview.write(to: URL(fileURLWithPath: path)) }
            #expect(try kept.source().isLoading == (round == 3))
            kept.readRest()
            #expect(kept.seen() == seen)
        }
        try settle(kept)
        try kept.restart { try saved[3].write(to: URL(fileURLWithPath: path)) }
        kept.readRest()
        try change(kept.source(), 4)
        try settle(kept)
        let later = kept.seen()
        try kept.restart { try saved[3].write(to: URL(fileURLWithPath: path)) }
        #expect(try !kept.source().isLoading && kept.seen() == later)
    }

    @Test("after a replay the overview is written again, and the next start has it")
    func afterReplay() throws {
        let kept = try loaded()
        try change(kept.source(), 0)
        try settle(kept)
        try kept.restart { try FileManager.default.removeItem(atPath: kept.file("overview")) }
        #expect(try !kept.source().isLoading)
        try settle(kept)
        let seen = kept.seen()
        let number = try kept.source().revision.number
        try kept.restart()
        #expect(try kept.source().overview?.revision.number == number)
        kept.readRest()
        #expect(try kept.source().revision.number == number && kept.seen() == seen)
    }

    @Test(
        "a kill while a snapshot is being written leaves the overview of the changes before it, and of those meanwhile"
    )
    func duringSnapshot() throws {
        for hasMore in [false, true] {
            let kept = try loaded()
            try change(kept.source(), 0)
            try settle(kept)
            let source = try kept.source()
            _ = try #require(source.files).beginSnapshot(of: source.revision)
            if hasMore {
                try change(source, 1)
                try settle(kept)
            }
            try expectOverview(of: kept)
        }
    }

    @Test(
        "after a snapshot that was written while changes continued there is an overview again",
        arguments: [0, 1, 40])
    func afterSnapshot(_ meanwhile: Int) throws {
        let kept = try loaded(#"{"clusterProperties":{"sum":["+",["get","n"]]}}"#)
        let source = try kept.source()
        try change(source, 0)
        let said = kept.said()
        let (generation, written, moment) = try snapshot(source) {
            for round in 0..<meanwhile { try change(source, 1 + round) }
        }
        #expect(source.files?.mayHaveOverview(source.revision) == false)
        let before = source.revision
        try source.renew(from: written, generation: generation, updatedAt: moment)
        #expect(source.revision.number > before.number)
        #expect(meanwhile > 0 || kept.said() == said)
        try expectOverview(of: kept)
        // Changes go on from there.
        try change(kept.source(), 50)
        try settle(kept)
        try expectOverview(of: kept)
    }

    /// Writes a snapshot as a save does.
    ///
    /// - Parameter meanwhile: what is done while it is being written.
    private func snapshot(
        _ source: Source, _ meanwhile: () throws -> Void
    ) throws -> (generation: UInt64, written: Revision, moment: Timestamp) {
        let (files, revision, moment) = (try #require(source.files), source.revision, source.updatedAt)
        let generation = try files.beginSnapshot(of: revision)
        try meanwhile()
        let plain = try source.rebuild(revision)
        let written = try files.writeSnapshot(plain, generation: generation, updatedAt: moment)
        return (generation, try #require(written), moment)
    }

    /// Restarts as after a kill: there is an overview, and it gives what the source gave, and what all files give.
    private func expectOverview(of kept: KeptSources, _ comment: Comment? = nil) throws {
        try settle(kept)
        let before = try kept.source().revision
        try kept.restart()
        let overview = try #require(try kept.source().overview, comment)
        for zoom in 0...17 where overview.answers(at: Double(zoom)) {
            #expect(try answer(overview.revision, zoom) == answer(before, zoom), comment)
        }
        #expect(overview.answers(at: 2))
        kept.readRest()
        for zoom in 0...17 {
            #expect(try answer(kept.source().revision, zoom) == answer(before, zoom), comment)
        }
    }

    @Test(
        "a snapshot's clusters take the place of those of a compaction, but not of replaced data",
        arguments: [false, true])
    func noRenewal(_ isReplaced: Bool) throws {
        let kept = try loaded()
        let source = try kept.source()
        try change(source, 0)
        let (generation, written, moment) = try snapshot(source) { try change(source, 1) }
        if isReplaced { try source.load(towns(120)) } else { source.compact() }
        let before = source.revision.number
        try source.renew(from: written, generation: generation, updatedAt: moment)
        #expect((source.revision.number == before) == isReplaced)
        let said = kept.said()
        try kept.restart()
        kept.readRest()
        #expect(kept.said() == said)
    }

    @Test(
        "whenever it is killed around snapshots, what an overview answers is what all files give",
        arguments: 0..<30)
    func killsAroundSnapshots(_ seed: Int) throws {
        var random = Sequence(seed: UInt64(seed))
        let kept = try loaded(Self.rich[seed % Self.rich.count])
        var round = 0
        func changes(_ most: Int) throws {
            for _ in 0..<random.next(below: most + 1) {
                try change(kept.source(), round)
                round += 1
                if random.next(below: 2) == 0 { try settle(kept) }
            }
        }
        for _ in 0..<3 {
            try changes(4)
            let source = try kept.source()
            switch random.next(below: 4) {
            case 0: _ = try #require(source.files).beginSnapshot(of: source.revision)
            case 1: source.compact()
            default:
                let (generation, written, moment) = try snapshot(source) { try changes(3) }
                try changes(1)
                if random.next(below: 3) > 0 {
                    try source.renew(from: written, generation: generation, updatedAt: moment)
                }
            }
            try changes(2)
            if random.next(below: 2) == 0 { try settle(kept) }
            let said = kept.said()
            try kept.restart()
            let overview = try kept.source().overview
            kept.readRest()
            let whole = try kept.source().revision
            #expect(kept.said() == said)
            if let overview {
                for zoom in 0...17 where overview.answers(at: Double(zoom)) {
                    #expect(try answer(overview.revision, zoom) == answer(whole, zoom), "zoom \(zoom)")
                }
            }
        }
    }

    /// A sequence of numbers that depends only on its seed (SplitMix64).
    private struct Sequence {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next(below limit: Int) -> Int {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return Int((mixed ^ mixed >> 31) % UInt64(limit))
        }
    }

    @Test("data that are clustered again, or in a newer snapshot, make the overview of changes void")
    func clusteredAgain() throws {
        let kept = try loaded()
        try change(kept.source(), 0)
        try settle(kept)
        try kept.source().compact()
        try change(kept.source(), 1)
        try settle(kept)
        let seen = kept.said()
        try kept.restart()
        #expect(try !kept.source().isLoading && kept.said() == seen)
        try kept.source().load(towns(200))
        let replaced = kept.seen()
        try kept.restart()
        #expect(try kept.source().overview?.revision.pointCount == 200)
        kept.readRest()
        #expect(kept.seen() == replaced)
    }

    @Test(
        "once a feature has expired, the overview answers nothing, and the rest comes without it",
        arguments: [5e5, 2e6])
    func expiry(_ age: Double) throws {
        let kept = try KeptSources(overviewPoints: 100)
        let source = try kept.create(options: #"{"ttlSeconds":1e6}"#)
        let now = Timestamp.now.milliseconds
        for (first, age) in [(0, age), (200, 10)] {
            let load = FeatureImport(
                into: source, mode: .append, policy: .reject,
                at: Timestamp(milliseconds: now - Int64(age * 1000)))
            try load.add(towns(200, from: first))
            _ = try load.finish(.never)
        }
        // The snapshot of an import that replaces has the moments of its features.
        source.saveLater()
        kept.wait()
        kept.holdsReading = true
        try kept.restart()
        let overview = try #require(try kept.source().overview)
        #expect(overview.answers(at: 1) == (age < 1e6))
        kept.readRest()
        #expect(try kept.source().revision.pointCount == (age < 1e6 ? 400 : 200))
    }

    @Test("nothing changes it while it is read, and a deletion waits")
    func noChange() throws {
        let kept = try loaded()
        try kept.restart()
        let source = try kept.source()
        #expect(throws: SourceError.self) { try source.change(remove: [1]) }
        #expect(throws: SourceError.self) { try source.load(towns(3)) }
        #expect(throws: SourceError.self) { try source.intactRevision() }
        #expect(throws: SourceError.cancelled) {
            try kept.registry.wholeSource(source.name, Cancellation { true })
        }
        kept.registry.expire()
        kept.registry.shared.reading.resume()
        try kept.registry.delete(source.name)
        kept.registry.shared.reading.hold()
        #expect(kept.registry.all.isEmpty)
        kept.readRest()
        #expect(kept.registry.all.isEmpty && kept.reports.allSatisfy { $0.gravity == .information })
    }

    private func damage(_ kept: KeptSources, _ section: UInt32) throws {
        let snapshot = try #require(kept.files().filter { $0.hasSuffix(".snapshot") }.max())
        let path = kept.file(snapshot)
        let offset = try SectionFileReader(FileImage(path), path: path).offset(of: section)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 1])
        try file.close()
    }

    @Test("damage behind the overview has the same outcome as without one")
    func damagedRest() throws {
        for hasOlder in [false, true] {
            var outcomes: [String] = []
            for overviewPoints in [0, 1] {
                let kept = try KeptSources(overviewPoints: overviewPoints)
                try kept.create().load(towns(300))
                if hasOlder { try kept.source().load(towns(200)) }
                kept.holdsReading = true
                try kept.restart { try damage(kept, SnapshotSection.index(.leaves)) }
                #expect(try kept.source().isLoading == (overviewPoints == 1))
                if let overview = try kept.source().overview {
                    #expect(overview.revision.pointCount == (hasOlder ? 200 : 300))
                }
                kept.readRest()
                let description = try kept.source().description
                let isRead = kept.reports.contains { $0.gravity == .information }
                #expect(isRead == (hasOlder && overviewPoints == 1))
                // Without the time and the folder, which differ.
                let told = (description.damage ?? description.note ?? "").components(separatedBy: "/sources/")
                #expect(told.last?.contains("damaged in its section") == true)
                let said = kept.said().replacingOccurrences(of: kept.path, with: "")
                outcomes.append("\(description.state) \(told.last ?? "") \(said)")
            }
            #expect(outcomes[0] == outcomes[1], "\(hasOlder)")
        }
    }

    @Test(
        "a damaged overview costs only time",
        arguments: [
            SnapshotSection.overviewText, SnapshotSection.overviewOffsets,
            SnapshotSection.overview(.spatialSlots), SnapshotSection.overview(.clusterX),
            SnapshotSection.overviewAggregate(0, 0), SnapshotSection.overviewAggregate(0, 1),
            SnapshotSection.overviewPartitions(0), SnapshotSection.overviewIds,
            SnapshotSection.overviewInputs,
            SnapshotSection.overviewOldest,
        ])
    func damagedOverview(_ section: UInt32) throws {
        let kept = try loaded(
            #"{"clusterProperties":{"sum":["+",["get","n"]]},"partitionBy":["get","kind"],"generateId":true,"#
                + #""clusterIds":"origin","ttlSeconds":1e9}"#)
        let seen = kept.seen()
        try kept.restart { try damage(kept, section) }
        #expect(try !kept.source().isLoading && kept.seen() == seen)
        #expect(kept.reports.isEmpty)
    }
}
