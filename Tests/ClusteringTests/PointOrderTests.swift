// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Points in the order of a key") struct PointOrderTests {
    private struct Feature {
        var position: Position
        var key: Int
        var isAlive = true
    }

    /// Features with keys, and an index of them that follows changes.
    private struct Sorted {
        var features: [Feature]
        let options: ClusteringOptions
        var built: [Feature]
        var order: PointOrder
        var index: ClusterIndex

        init(_ features: [Feature], _ options: ClusteringOptions) throws {
            self.features = features
            self.options = options
            built = features
            let rows = features.indices.sorted { (features[$0].key, $0) < (features[$1].key, $1) }
            order = PointOrder(rows: rows.map { UInt32($0) })
            index = try ClusterIndex.build(rows.map { features[$0].position }, options)
        }

        /// False if the index has to be built again.
        mutating func update(removing: Set<Int>, moving: [Int: Position], keys: [Int: Int], adding: [Feature]) -> Bool {
            var changes = PointChanges()
            var inserted: [(row: Int, key: Int)] = []
            for row in removing.union(keys.keys) {
                guard let point = order.point(at: row) else { return false }
                changes.removed.append(point)
            }
            for row in removing { features[row].isAlive = false }
            for (row, key) in keys {
                features[row].key = key
                inserted.append((row, key))
            }
            for (row, position) in moving { features[row].position = position }
            for feature in adding {
                inserted.append((features.count, feature.key))
                features.append(feature)
            }
            for row in moving.keys where keys[row] == nil {
                guard let point = order.point(at: row) else { return false }
                changes.moved.append(
                    .init(
                        point: point, longitude: features[row].position.longitude,
                        latitude: features[row].position.latitude))
            }
            let (features, built) = (features, built)
            let change = order.update(removing: changes.removed, inserting: inserted) { feature in
                switch feature {
                case .built(let row): built[row].key
                case .current(let row): features[row].key
                }
            }
            guard let change else { return false }
            changes.relabelled = change.relabelled
            for insertion in change.insertions {
                let position = features[insertion.row].position
                changes.added.append(
                    .init(
                        point: insertion.point, longitude: position.longitude, latitude: position.latitude,
                        label: insertion.label))
            }
            let order = order
            let updated = index.updated(changes) { point in
                let position = built[order.row(of: point)].position
                return (position.longitude, position.latitude)
            }
            guard let updated else { return false }
            index = updated.index
            return true
        }

        /// What is shown at a zoom, in the answer's order.
        func shown(at zoom: Int, _ row: (PointIndex) -> Int) -> [String] {
            index.all(at: zoom).map { node in
                switch node {
                case .point(let point): return "p\(row(point))"
                case .cluster(let cluster):
                    let (x, y) = index.unitPosition(of: cluster)
                    return "c\(row(index.origin(of: node))) \(index.pointCount(of: cluster)) \(x) \(y) "
                        + "\(index.leaves(of: cluster).map(row))"
                }
            }
        }
    }

    private static func expectEqual(_ live: Sorted, _ context: String) throws {
        let living = live.features.indices.filter { live.features[$0].isAlive }
        let fresh = try Sorted(living.map { live.features[$0] }, live.options)
        #expect(live.index.pointCount == living.count)
        var (walk, walked) = (PointOrder.Walk(), [Int]())
        while let row = live.order.next(&walk) { if live.features[row].isAlive { walked.append(row) } }
        #expect(walked == fresh.order.builtRows.map { living[Int($0)] }, "\(context)")
        for zoom in live.options.minimumZoom...live.options.maximumZoom + 1 {
            let expected = fresh.shown(at: zoom) { living[fresh.order.row(of: $0)] }
            #expect(live.shown(at: zoom) { live.order.row(of: $0) } == expected, "\(context), zoom \(zoom)")
        }
    }

    @Test("histories of changes end in the index of the sorted features", arguments: 0..<24)
    func histories(_ seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed) + 900)
        let options = [
            ClusteringOptions(maximumZoom: 8), ClusteringOptions(radius: 90, maximumZoom: 5, precision: .fixed),
            ClusteringOptions(radius: 300, maximumZoom: 3, precision: .double),
        ][seed % 3]
        let keys = seed % 2 == 0 ? 5 : 10_000
        let pool = [PointSet.gathered, .duplicates, .uniform, .crowd][seed % 4].places(400, seed: UInt64(seed))
        func feature() -> Feature {
            Feature(
                position: pool[Int.random(in: 0..<pool.count, using: &random)],
                key: Int.random(in: 0..<keys, using: &random))
        }
        var live = try Sorted((0..<120).map { _ in feature() }, options)
        for step in 0..<12 {
            let living = live.features.indices.filter { live.features[$0].isAlive }
            var removing: Set<Int> = []
            var moving: [Int: Position] = [:]
            var rekeyed: [Int: Int] = [:]
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let row = living[Int.random(in: 0..<living.count, using: &random)]
                guard !removing.contains(row), moving[row] == nil, rekeyed[row] == nil else { continue }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: removing.insert(row)
                case 1: moving[row] = feature().position
                case 2: rekeyed[row] = feature().key
                default:
                    moving[row] = feature().position
                    rekeyed[row] = feature().key
                }
            }
            let adding = (0..<Int.random(in: 0...4, using: &random)).map { _ in feature() }
            guard live.update(removing: removing, moving: moving, keys: rekeyed, adding: adding) else {
                Issue.record("refused at step \(step)")
                return
            }
            try Self.expectEqual(live, "seed \(seed), step \(step)")
        }
    }

    @Test("many insertions at one position find room by new labels") func crowdedGap() throws {
        let places = PointSet.uniform.places(300)
        var live = try Sorted(
            places.indices.prefix(100).map { Feature(position: places[$0], key: $0 * 1000) },
            ClusteringOptions(maximumZoom: 4))
        for step in 0..<100 {
            // Each comes just before the last, so that room halves each time.
            let feature = Feature(position: places[100 + step], key: 5900 - step)
            guard live.update(removing: [], moving: [:], keys: [:], adding: [feature]) else {
                Issue.record("refused at step \(step)")
                return
            }
        }
        try Self.expectEqual(live, "crowded gap")
    }

    @Test("insertions at the end are cheap labels in order") func appended() throws {
        let places = PointSet.gathered.places(200)
        var live = try Sorted(
            (0..<50).map { Feature(position: places[$0], key: $0) }, ClusteringOptions(maximumZoom: 4))
        for step in 50..<150 {
            guard
                live.update(removing: [], moving: [:], keys: [:], adding: [Feature(position: places[step], key: step)])
            else {
                Issue.record("refused at step \(step)")
                return
            }
            let label = live.order.label(of: PointIndex(rawValue: UInt32(step)))
            #expect(label.rawValue == UInt64(step + 1) << 32)
        }
        try Self.expectEqual(live, "appended")
    }

    @Test("selected points are in order, with added points between built ones") func choice() throws {
        let places = PointSet.uniform.places(20)
        var live = try Sorted(
            (0..<10).map { Feature(position: places[$0], key: 100 - $0 * 10) }, ClusteringOptions(maximumZoom: 2))
        let isFollowed = live.update(
            removing: [], moving: [:], keys: [2: 15],
            adding: [Feature(position: places[12], key: 55), Feature(position: places[13], key: 1)])
        #expect(isFollowed)
        let all = live.features.indices.compactMap { live.order.point(at: $0) }
        let sorted = live.order.sorted(all).map { live.features[live.order.row(of: $0)].key }
        #expect(sorted == live.features.map(\.key).sorted())
    }
}
