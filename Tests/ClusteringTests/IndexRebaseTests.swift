// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

/// An index on another base must give the same answers as one built from the same points, to the bit and in the same order.
@Suite("Changes of an index made over another base") struct IndexRebaseTests {
    /// Changes are followed, what they made is clustered again, and more changes are made over that, several times.
    @Test("equals a build after random sequences", arguments: 0..<28) func randomSequences(_ seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed) + 400)
        let options = IndexUpdateTests.variants[seed % IndexUpdateTests.variants.count]
        let area = IndexUpdateTests.areas[seed / IndexUpdateTests.variants.count % IndexUpdateTests.areas.count]
        for round in 0..<4 {
            let points = Int(random.next() % 60) + 2
            var live = try IndexUpdateTests.Live((0..<points).map { _ in area(&random) }, options)
            // Removed points would have to keep their numbers in a build.
            for _ in 0..<Int(random.next() % 4) {
                var changes = IndexUpdateTests.changes(&random, live, count: 3, area: area)
                changes.removed = []
                let isApplied = live.apply(changes)
                try #require(isApplied)
            }
            var rebased = live
            rebased.index = try live.index.rebuilt(with: PointChanges())
            if round % 2 == 0 { rebased.index.prepareForUpdates() }
            try IndexUpdateTests.expectEqual(rebased, "seed \(seed), round \(round), built")
            for step in 0..<12 {
                try advance(&live, &rebased, &random, updates: 1 + step % 3, count: 4, area)
                try IndexUpdateTests.expectEqual(rebased, "seed \(seed), round \(round), step \(step)")
            }
        }
    }

    @Test(
        "equals a build after changes of larger sets",
        arguments: [PointSet.gathered, .uniform, .crowd, .duplicates, .edges, .grid])
    func largerSets(_ set: PointSet) throws {
        var random = SeededGenerator(state: 8)
        var live = try IndexUpdateTests.Live(set.places(1500), ClusteringOptions())
        let pool = set.places(3000, seed: 9)
        var rebased = live
        rebased.index = try live.index.rebuilt(with: PointChanges())
        rebased.index.prepareForUpdates()
        for (step, count) in [1, 40, 3, 90, 60].enumerated() {
            try advance(&live, &rebased, &random, updates: 1 + step % 3, count: count) {
                pool[Int.random(in: 0..<pool.count, using: &$0)]
            }
            try IndexUpdateTests.expectEqual(rebased, "\(set) step \(step)")
        }
        if case .float(let spatial) = rebased.index.layers.base.spatial {
            // The levels in memory are those of the index too.
            let kept = try #require(rebased.index.takeLevels() as? UpdatedLevels<Float>)
            #expect(!kept.filled.isEmpty)
            for level in kept.filled {
                guard let nodes = kept.take(level) else { continue }
                let fresh = LevelNodes(rebased.index.layers, spatial, level, capacity: 1)
                #expect(UpdatedLevelsTests.kept(nodes) == UpdatedLevelsTests.kept(fresh), "\(set) level \(level)")
                kept.put(nodes, level)
            }
            rebased.index.keep(kept)
        }
        // What was made so is followed like any other index.
        var changes = PointChanges()
        changes.removed = [PointIndex(rawValue: UInt32(live.places.indices.last { live.places[$0] != nil } ?? 0))]
        let isFollowed = rebased.apply(changes)
        #expect(isFollowed)
        try IndexUpdateTests.expectEqual(rebased, "\(set) followed")
    }

    @Test("weights and partitions of moved points are kept") func weightsAndPartitions() throws {
        var random = SeededGenerator(state: 10)
        var places = PointSet.gathered.places(800)
        let original = places
        var weights = places.indices.map { Double($0 % 5 + 1) }
        var partitions = places.indices.map { UInt32($0 % 2) }
        let options = ClusteringOptions(maximumZoom: 12)
        let start = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
        var changes = PointChanges()
        for point in 0..<40 {
            places[point] = places[Int.random(in: 40..<800, using: &random)]
            (weights[point], partitions[point]) = (Double(point % 3 + 1), UInt32(point / 3 % 2))
            changes.moved.append(
                .init(
                    point: PointIndex(rawValue: UInt32(point)), longitude: places[point].longitude,
                    latitude: places[point].latitude, weight: weights[point], partition: partitions[point]))
        }
        let coordinates = { @Sendable (point: PointIndex) in
            (original[Int(point.rawValue)].longitude, original[Int(point.rawValue)].latitude)
        }
        let followed = try #require(start.updated(changes, coordinates: coordinates)).index
        let target = try ClusterIndex.build(
            original, options, weights: original.indices.map { Double($0 % 5 + 1) },
            partitions: original.indices.map { UInt32($0 % 2) })
        let update = followed.rebased(
            from: start, onto: target, changed: changes.moved.map(\.point), isOnDisk: { _ in false },
            coordinates: coordinates)
        let rebased = try #require(update).index
        let fresh = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
        #expect(IndexUpdateTests.answers(rebased) == IndexUpdateTests.answers(fresh))
    }

    @Test("indexes of other points are refused") func refusals() throws {
        let places = PointSet.gathered.places(300)
        let live = try IndexUpdateTests.Live(places, ClusteringOptions())
        var later = live
        var changes = PointChanges()
        changes.removed = [PointIndex(rawValue: 3)]
        let isApplied = later.apply(changes)
        try #require(isApplied)
        func rebase(_ start: ClusterIndex, _ target: ClusterIndex) -> Bool {
            later.index.rebased(
                from: start, onto: target, changed: changes.removed, isOnDisk: { _ in false },
                coordinates: { (places[Int($0.rawValue)].longitude, places[Int($0.rawValue)].latitude) }) != nil
        }
        let same = try ClusterIndex.build(places, ClusteringOptions())
        #expect(rebase(live.index, same))
        #expect(!rebase(same, live.index), "this index was not made from it")
        #expect(!rebase(live.index, try ClusterIndex.build(Array(places.dropLast()), ClusteringOptions())))
        let others = try ClusterIndex.build(PointSet.uniform.places(300), ClusteringOptions())
        #expect(!rebase(live.index, others), "it has other clusters")
    }

    /// Makes updates in one index, and all that they changed at once in the other.
    private func advance(
        _ live: inout IndexUpdateTests.Live, _ rebased: inout IndexUpdateTests.Live, _ random: inout SeededGenerator,
        updates: Int, count: Int, _ area: (inout SeededGenerator) -> Position
    ) throws {
        let start = live
        var changed: Set<PointIndex> = []
        for _ in 0..<updates {
            let changes = IndexUpdateTests.changes(&random, live, count: count, area: area)
            changed.formUnion(changes.removed)
            changed.formUnion((changes.moved + changes.added).map(\.point))
            let isApplied = live.apply(changes)
            try #require(isApplied)
        }
        let original = start.original
        let update = live.index.rebased(
            from: start.index, onto: rebased.index, changed: changed.sorted(), threads: count > 50 ? 3 : 1,
            isOnDisk: { _ in false },
            coordinates: { (original[Int($0.rawValue)].longitude, original[Int($0.rawValue)].latitude) })
        rebased.index = try #require(update).index
        rebased.places = live.places
    }
}
