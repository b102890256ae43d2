// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

/// Levels that are kept from update to update must be what they would be if they were read from the index.
@Suite("Levels kept between updates") struct UpdatedLevelsTests {
    /// What is kept of a node.
    struct Kept: Hashable {
        let key: UInt32
        let order: OrderLabel
        let claim: OrderLabel
        let cluster: UInt32
        let count: UInt32
        let place: [Double]
        let weight: Double
        let partition: UInt32
        let levelsInBase: UInt32

        init(_ entry: LevelNodes<Float>.Entry) {
            (key, order, claim) = (entry.key.rawValue, entry.order, entry.claim)
            (cluster, count, place) = (entry.cluster, entry.count, [entry.x, entry.y])
            (weight, partition, levelsInBase) = (entry.weight, entry.partition, entry.levelsInBase)
        }
    }

    /// The nodes around a place.
    private static func around(_ place: (x: Double, y: Double), _ nodes: borrowing LevelNodes<Float>) -> Set<Kept> {
        var found: [Int] = []
        nodes.find(around: place.x, place.y, into: &found)
        let all = found.map { Kept(nodes[$0]) }
        #expect(Set(all).count == all.count, "a node was found twice")
        return Set(all)
    }

    /// All nodes.
    static func kept(_ nodes: borrowing LevelNodes<Float>) -> Set<Kept> { Set(nodes.indices.map { Kept(nodes[$0]) }) }

    private static let variants: [ClusteringOptions] = [
        ClusteringOptions(), ClusteringOptions(radius: 120, maximumZoom: 9, minimumPoints: 1),
        ClusteringOptions(radius: 75, minimumZoom: 2, maximumZoom: 14),
    ]

    @Test("are those of the index", arguments: 0..<9) func areThoseOfTheIndex(_ seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed) + 40)
        let pool = [PointSet.gathered, .uniform, .grid][seed / 3].places(3000, seed: UInt64(seed))
        func place() -> Position { pool[Int.random(in: 0..<pool.count, using: &random)] }
        let original = (0..<1500).map { _ in place() }
        var index = try ClusterIndex.build(original, Self.variants[seed % 3])
        guard case .float(let spatial) = index.layers.base.spatial else { return }
        @Sendable func coordinates(_ point: PointIndex) -> (longitude: Double, latitude: Double) {
            let place = original[Int(point.rawValue)]
            return (place.longitude, place.latitude)
        }
        var compared = 0
        var removed: Set<Int> = []
        for step in 0..<10 {
            var changes = PointChanges()
            for point in Set((0..<40).map { _ in Int.random(in: 0..<original.count, using: &random) }).sorted()
            where !removed.contains(point) {
                if random.next() % 4 == 0 {
                    removed.insert(point)
                    changes.removed.append(PointIndex(rawValue: UInt32(point)))
                    continue
                }
                let (longitude, latitude) = (place().longitude, place().latitude)
                changes.moved.append(
                    .init(point: PointIndex(rawValue: UInt32(point)), longitude: longitude, latitude: latitude))
            }
            let added = place()
            changes.added = [
                .init(
                    point: PointIndex(rawValue: UInt32(index.pointLimit)), longitude: added.longitude,
                    latitude: added.latitude)
            ]
            index = try #require(index.updated(changes, threads: 1 + step % 2, coordinates: coordinates)).index
            guard step % 3 == 2 else { continue }
            let kept = try #require(index.takeLevels() as? UpdatedLevels<Float>)
            #expect(index.takeLevels() == nil, "two updates would change the same levels")
            for level in index.options.minimumZoom...index.options.maximumZoom + 1 {
                guard let nodes = kept.take(level) else { continue }
                let fresh = LevelNodes(index.layers, spatial, level, capacity: 1)
                for entry in fresh.indices.map({ fresh[$0] }) {
                    #expect(
                        Self.around(entry.compared, nodes) == Self.around(entry.compared, fresh),
                        "step \(step), level \(level)")
                    compared += 1
                }
                kept.put(nodes, level)
            }
            index = ClusterIndex(index.layers, lineage: index.lineage, levels: kept)
        }
        #expect(compared > 1000, "hardly any level was kept")
    }

    @Test("are forgotten when labels change") func areForgottenWhenLabelsChange() throws {
        let places = PointSet.gathered.places(500)
        var index = try ClusterIndex.build(places, ClusteringOptions())
        guard case .float = index.layers.base.spatial else { return }
        func update(_ changes: PointChanges) throws {
            let update = index.updated(changes) { point in
                (places[Int(point.rawValue)].longitude, places[Int(point.rawValue)].latitude)
            }
            index = try #require(update).index
        }
        func keptLevels() throws -> Int {
            let kept = try #require(index.takeLevels() as? UpdatedLevels<Float>)
            let levels = index.options.minimumZoom...index.options.maximumZoom + 1
            let count = levels.count { kept.has($0) }
            index = ClusterIndex(index.layers, lineage: index.lineage, levels: kept)
            return count
        }
        var changes = PointChanges()
        changes.moved = (0..<25).map { .init(point: PointIndex(rawValue: $0), longitude: 5, latitude: Double($0)) }
        try update(changes)
        #expect(try keptLevels() > 0)
        changes = PointChanges()
        changes.relabelled = [(PointIndex(rawValue: 3), OrderLabel(inOrder: PointIndex(rawValue: 3)))]
        try update(changes)
        #expect(try keptLevels() == 0)
    }
}
