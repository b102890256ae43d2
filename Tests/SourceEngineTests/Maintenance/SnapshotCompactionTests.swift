// SPDX-License-Identifier: MIT
import Clustering
import SourceTestSupport
import TestSupport
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
}
