// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import SourceTestSupport
import TestSupport
import Synchronization
import Testing

@testable import SourceEngine

@Suite("Snapshots that compact") struct SnapshotCompactionTests {
    /// Moves features to a country, some at once.
    private func move(
        _ features: inout [String], _ source: Source, _ random: inout SeededRandom, times: Int
    ) throws {
        for _ in 0..<times {
            let ids = Set((0..<40).map { _ in features.indices.randomElement(using: &random) ?? 0 })
            for id in ids {
                let (x, y) = (
                    Double.random(in: -9...9, using: &random), Double.random(in: -9...9, using: &random)
                )
                features[id] = point(id, x, y, "{\"n\":\(id % 11)}")
            }
            try source.change(upsert: "[" + ids.map { features[$0] }.joined(separator: ",") + "]")
        }
    }

    @Test("a compaction waits for a snapshot, but not until the delta is twice as large") func postponed() throws {
        let kept = try KeptSources(leastClusteredAlone: 0, isQuick: true)
        var features = (0..<300).map { point($0, Double($0 * 37 % 300) - 150, Double($0 * 13 % 150) - 75, "{}") }
        let source = try kept.create()
        try source.load("[" + features.joined(separator: ",") + "]")
        kept.wait()
        var random = SeededRandom(seed: 4)
        let (lineage, most) = (source.revision.view.index.lineage, source.revision.mostGrowth)
        let written = DispatchSemaphore(value: 0)
        source.jobs.run(.save) { written.wait() }
        defer { written.signal() }
        while source.revision.growth <= most { try move(&features, source, &random, times: 1) }
        #expect(source.revision.growth <= 2 * most, "one step changes too much for a test")
        #expect(!source.jobs.isRunning(.compact))
        #expect(source.revision.view.index.lineage == lineage)
        // The compaction ends beside the snapshot, which still runs.
        for _ in 0..<2000 where source.revision.view.index.lineage == lineage {
            try move(&features, source, &random, times: 1)
        }
        #expect(source.revision.view.index.lineage != lineage)
        #expect(source.jobs.isRunning(.save))
    }

    @Test("work that waited begins when the other ends") func following() throws {
        let jobs = SourceJobs()
        let begun = DispatchSemaphore(value: 0)
        jobs.run(.compact) {
            #expect(jobs.isRunning(.compact))
        } then: {
            #expect(!jobs.isRunning(.compact))
            jobs.run(.save) { begun.signal() }
        }
        jobs.wait()
        #expect(begun.wait(timeout: .now()) == .success, "the wait ended before what followed")
        #expect(!jobs.isRunning(.save, .compact, .checkpoint))
    }

    @Test("a deletion waits until the files have been read again, and keeps that from beginning") func held() throws {
        let jobs = SourceJobs()
        let count = Atomic(0)
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        jobs.run(.reopen) {
            begun.signal()
            gate.wait()
            count.add(1, ordering: .relaxed)
        }
        begun.wait()
        DispatchQueue.global().async { gate.signal() }
        jobs.holdReopening()
        #expect(count.load(ordering: .relaxed) == 1, "it did not wait")
        jobs.run(.save) { gate.wait() }
        jobs.run(.reopen) { count.add(1, ordering: .relaxed) }
        // Not for the snapshot, for which the other work waits.
        jobs.holdReopening()
        jobs.releaseReopening()
        gate.signal()
        jobs.wait()
        #expect(count.load(ordering: .relaxed) == 1, "it has begun")
        jobs.releaseReopening()
        jobs.run(.reopen) { count.add(1, ordering: .relaxed) }
        jobs.wait()
        #expect(count.load(ordering: .relaxed) == 2)
    }

    /// How many changes since the newest snapshot a start would replay without clustering.
    private func checkpointed(_ kept: KeptSources) throws -> Int {
        let source = try kept.source()
        let recovered = try RecoveredSource.read("\(kept.path)/sources/test", shared: source.shared, checking: false)
        return recovered.checkpoint?.end(in: recovered.changes) ?? 0
    }

    @Test(
        "the clusters that a snapshot makes are the source's as well, with the changes made meanwhile",
        arguments: ["{}", #"{"clusterProperties":{"sum":["+",["get","n"]]}}"#])
    func together(_ options: String) throws {
        let kept = try KeptSources(longestClustering: 0, leastClusteredAlone: 0, isQuick: true)
        var features = (0..<1000).map { id in
            point(id, Double(id * 37 % 300) - 150, Double(id * 13 % 150) - 75, "{\"n\":\(id % 11)}")
        }
        try kept.create(options: options).load("[" + features.joined(separator: ",") + "]")
        kept.wait()
        var random = SeededRandom(seed: 9)
        for round in 0..<3 {
            let source = try kept.source()
            var changes = 0
            while source.revision.growth <= source.revision.mostGrowth / 4 && changes < 200 {
                try move(&features, source, &random, times: 1)
                kept.wait()
                changes += 1
            }
            let before = source.revision
            try #require(changes < 200, "too few clusters change for a test")
            source.saveLater()
            // Beside it, so that some are before and some after each of its steps.
            try move(&features, source, &random, times: 3 * round)
            kept.wait()
            let after = source.revision
            #expect(after.view.index.lineage != before.view.index.lineage, "round \(round)")
            let fresh = try KeptSources(isQuick: true)
            try fresh.create(options: options).load("[" + features.joined(separator: ",") + "]")
            let expected = fresh.said()
            #expect(expected.contains("cluster"))
            #expect(kept.said() == expected, "round \(round)")
            // A change beside it may have clustered everything, so that the source does not go on from the snapshot.
            if round == 0 {
                #expect(after.isPlain)
                // How long changes take is not known, but it adds up.
                changes = 0
                while try checkpointed(kept) == 0 && changes < 200 {
                    try move(&features, source, &random, times: 1)
                    kept.wait()
                    changes += 1
                }
                #expect(changes < 200, "no checkpoint, so the snapshot's clusters are not the source's")
            }
            let seen = kept.said()
            try kept.restart()
            #expect(kept.reports.isEmpty, "round \(round): \(kept.reports)")
            #expect(kept.said() == seen, "round \(round)")
        }
    }

    /// What comes while a snapshot compacts.
    enum Interruption: String, CaseIterable {
        case `import`, deletion, successor, shortage
    }

    @Test("whatever comes beside it, the source has what was acknowledged last", arguments: Interruption.allCases)
    func interrupted(_ interruption: Interruption) throws {
        let kept = try KeptSources(longestClustering: 0, leastClusteredAlone: 0, isQuick: true)
        func features(_ shift: Int) -> [String] {
            (0..<1000).map { id -> String in
                let (x, y) = ((id + shift) * 37 % 300 - 150, id * 13 % 150 - 75)
                return point(id, Double(x), Double(y))
            }
        }
        var random = SeededRandom(seed: 4)
        for round in 0..<4 {
            var expected = features(round)
            let source = try (try? kept.source()) ?? kept.create()
            try source.load("[" + expected.joined(separator: ",") + "]")
            kept.wait()
            var changes = 0
            while source.revision.growth <= source.revision.mostGrowth / 4 && changes < 200 {
                try move(&expected, source, &random, times: 1)
                kept.wait()
                changes += 1
            }
            try #require(changes < 200, "too few clusters change for a test")
            source.saveLater()
            // Each time a little later.
            try move(&expected, source, &random, times: round)
            switch interruption {
            case .import:
                expected = features(100 + round)
                try source.load("[" + expected.joined(separator: ",") + "]")
            case .deletion, .successor:
                try kept.registry.delete(#require(SourceName("test")))
                guard interruption == .successor else { break }
                expected = features(200 + round)
                try kept.create().load("[" + expected.joined(separator: ",") + "]")
            case .shortage:
                // Too little for clustering anything, but nothing that is held is given up.
                kept.registry.shared.memory.limit = MemoryBudget.Limit(bytes: 1)
            }
            kept.wait()
            kept.registry.shared.memory.limit = MemoryBudget.Limit()
            let fresh = try KeptSources(isQuick: true)
            if interruption != .deletion {
                try fresh.create().load("[" + expected.joined(separator: ",") + "]")
            }
            #expect(kept.said() == fresh.said(), "round \(round)")
            try kept.restart()
            #expect(kept.said() == fresh.said(), "round \(round), after a restart")
            #expect(kept.reports.isEmpty, "round \(round): \(kept.reports)")
        }
    }

    /// They are open for a moment, so that changes need not wait until a disk has freed their room.
    @Test("files of former snapshots are removed, and closed") func outdated() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load("[\(point(1, 5, 5)),\(point(2, 6, 6))]")
        for round in 0..<4 {
            try source.change(upsert: "[\(point(1, Double(round), 7))]")
            source.saveLater()
            kept.wait()
        }
        let folder = "\(kept.path)/sources/test"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.filter { $0.hasSuffix(".snapshot") }.count == 2, "the newest and the one before: \(files)")
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        // The source goes on reading its index by id from the first one.
        let removed = open.filter { $0.hasPrefix(folder) && $0.hasSuffix("(deleted)") }
        #expect(removed.allSatisfy { $0.hasSuffix("/2.snapshot (deleted)") }, "\(removed)")
        #expect(removed.count <= 1, "\(removed)")
    }
}
