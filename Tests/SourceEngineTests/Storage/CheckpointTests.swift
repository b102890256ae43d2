// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import ImageStore
@testable import SourceEngine

@Suite("Checkpoints") struct CheckpointTests {
    private static let checkpoint = "2.checkpoint"

    /// How many changes a start would replay without clustering.
    private static func checkpointed(_ kept: KeptSources) throws -> Int {
        let source = try kept.source()
        let recovered = try RecoveredSource.read("\(kept.path)/sources/test", shared: source.shared, checking: false)
        return recovered.checkpoint?.end(in: recovered.changes) ?? 0
    }

    /// A change of any kind that can be made in place.
    private static func change(_ number: Int, _ random: inout SeededRandom, _ source: Source) throws {
        let first = Int.random(in: 0..<1200, using: &random)
        switch number % 3 {
        case 0: try source.change(upsert: towns(Int.random(in: 1...30, using: &random), from: first))
        case 1: try source.change(remove: (0..<5).map { .number(Double(first + $0)) })
        default:
            let moved = point(first, Double(first % 300) - 150, 40, "{\"n\":7,\"kind\":\"pub\"}")
            try source.change(upsert: "[\(moved)]", remove: [.number(Double(first + 1))])
        }
    }

    @Test(
        "a start with one gives the answers, the ids and the further changes of a start without",
        arguments: [
            "{}", #"{"clusterProperties":{"sum":["+",["get","n"]],"most":["max",["get","n"]]}}"#,
            #"{"clusterProperties":{"mean":["mean",["get","n"]],"any":["any",["==",["get","kind"],"bar"]]}}"#,
            #"{"filter":[">",["get","n"],2],"weight":["+",1,["get","n"]]}"#,
            #"{"sortKey":["-",0,["get","n"]],"clusterIds":"origin","precision":"fixed"}"#,
            #"{"partitionBy":["get","kind"],"precision":"double"}"#,
            #"{"projection":{"planar":[-200,-100,300,200]},"sortKey":["id"]}"#,
        ])
    func sameAsWithout(_ options: String) throws {
        let (kept, plain) = (
            try KeptSources(longestClustering: 0, isQuick: true), try KeptSources(isQuick: true)
        )
        for kept in [kept, plain] { try kept.create(options: options).load(towns(1200)) }
        for round in 0..<4 {
            for kept in [kept, plain] {
                var random = SeededRandom(seed: UInt64(round))
                for number in 0..<6 {
                    try Self.change(6 * round + number, &random, kept.source())
                    // Each of them is included.
                    if number < 4 { kept.wait() }
                }
                kept.wait()
            }
            let seen = kept.seen()
            #expect(seen.contains("\"cluster\""), "round \(round)")
            #expect(try Self.checkpointed(kept) >= 6 * round + 4, "round \(round)")
            for kept in [kept, plain] {
                try kept.restart()
                #expect(kept.reports.isEmpty, "round \(round): \(kept.reports)")
            }
            #expect(kept.seen() == seen, "round \(round)")
            #expect(kept.seen() == plain.seen(), "round \(round)")
            #expect(try kept.source().revision.bounds == plain.source().revision.bounds, "round \(round)")
        }
    }

    /// A source with changes, and a checkpoint of the first ones.
    private static func changed() throws -> KeptSources {
        let kept = try KeptSources(longestClustering: 0, isQuick: true)
        try kept.create().load(towns(300))
        for number in 0..<6 {
            try kept.source().change(upsert: towns(2, from: 40 * number + 17), remove: [.number(Double(number))])
            kept.wait()
        }
        return kept
    }

    @Test("whatever byte of one is changed, the answers stay") func damage() throws {
        let kept = try Self.changed()
        let seen = kept.seen()
        let file = URL(fileURLWithPath: kept.file(Self.checkpoint))
        let intact = try Data(contentsOf: file)
        #expect(intact.count > 10_000)
        var used = 0
        // The rest of the header's page is empty.
        let content = SourceImage.pageSize..<intact.count
        let offsets =
            Array(stride(from: 0, to: 64, by: 7))
            + stride(from: content.lowerBound, to: content.upperBound, by: content.count / 100)
        for offset in offsets {
            var damaged = intact
            damaged[offset] ^= 0x10
            try kept.restart { try damaged.write(to: file) }
            used += try Self.checkpointed(kept) > 0 ? 1 : 0
            #expect(kept.seen() == seen, "byte \(offset)")
            #expect(kept.reports.isEmpty, "byte \(offset): \(kept.reports)")
        }
        #expect(used == 0, "\(used) damaged ones were used")
        for size in [0, 1, 64, 5000, intact.count - 1] {
            try kept.restart { try intact.prefix(size).write(to: file) }
            #expect(kept.seen() == seen, "cut to \(size) bytes")
        }
    }

    @Test("one of a longer journal, or of another with the same numbers, is not used") func ofAnotherJournal() throws {
        let kept = try Self.changed()
        let folder = "\(kept.path)/sources/test"
        let saved = NSTemporaryDirectory() + "clusterd-checkpoint-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: saved) }
        try kept.restart { try FileManager.default.copyItem(atPath: folder, toPath: saved) }
        try kept.source().change(remove: [.number(100)])
        kept.wait()
        let longer = try Data(contentsOf: URL(fileURLWithPath: kept.file(Self.checkpoint)))
        /// Puts the saved files back, but the checkpoint.
        func putBack() throws {
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.copyItem(atPath: saved, toPath: folder)
            try longer.write(to: URL(fileURLWithPath: kept.file(Self.checkpoint)))
        }
        try kept.restart { try putBack() }
        #expect(try Self.checkpointed(kept) == 0)
        #expect(try kept.source().change(remove: [.number(200)]).removed == 1)
        kept.wait()
        // As if the second change had been written by the daemon that wrote the first.
        try kept.restart { try longer.write(to: URL(fileURLWithPath: kept.file(Self.checkpoint))) }
        #expect(try Self.checkpointed(kept) == 0)
        #expect(try kept.source().change(remove: [.number(100), .number(200)]).removed == 1)
    }

    @Test("one that does not fit the journal's changes is noticed, and all are replayed") func wrongChanges() throws {
        let kept = try Self.changed()
        let seen = kept.seen()
        let source = try kept.source()
        let path = kept.file(Self.checkpoint)
        let found = try #require(Checkpoint(path, generation: 2))
        // The position is right, but a point of the delta is missing.
        let other = try Self.changed()
        try other.source().change(remove: [.number(250)])
        other.wait()
        try kept.restart { try Checkpoint.write(other.source().revision, [], found.position, generation: 2, to: path) }
        #expect(kept.seen() == seen)
        _ = source
    }

    @Test("changes of a feed are included, though more seldom than others") func ofFeeds() throws {
        let kept = try KeptSources(longestClustering: 0, isQuick: true)
        try kept.create().load(towns(300))
        let claim = FeedClaim(log: "log") {}
        var number = 0
        // The first one counts as any other. How long the others take is not known, but it adds up.
        while try number < 1000 && Self.checkpointed(kept) < 2 {
            let item = LogItem(
                position: "p\(number)", upserts: Array("[\(point(number % 300, Double(number % 170), 40))]".utf8),
                removals: [])
            _ = try kept.source().apply([item], of: claim, .reject, .never)
            kept.wait()
            number += 1
        }
        #expect(try Self.checkpointed(kept) >= 2, "after \(number) changes")
    }

    @Test("none is written while the data go on from other data than the snapshot's") func otherBase() throws {
        let kept = try Self.changed()
        #expect(try Self.checkpointed(kept) == 6)
        _ = try kept.source().compact()
        let seen = kept.said()
        try kept.source().change(upsert: towns(1, from: 50))
        kept.wait()
        #expect(try Self.checkpointed(kept) == 6)
        try kept.restart()
        #expect(kept.said() == seen)
        try kept.source().change(remove: [.number(60)])
        kept.wait()
        #expect(try Self.checkpointed(kept) == 8)
    }
}
