// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@testable import Clustering

/// An updated index must give the same answers as one built from the same points, to the bit and in the same order.
@Suite("Index update") struct IndexUpdateTests {
    /// What the points are, by number, and the index as changes have made it.
    struct Live {
        var places: [Position?]
        var index: ClusterIndex
        let original: [Position]

        init(_ places: [Position], _ options: ClusteringOptions) throws {
            self.places = places
            original = places
            index = try ClusterIndex.build(places, options)
        }

        /// Applies changes; false if the index has to be rebuilt instead.
        mutating func apply(_ changes: PointChanges, threads: Int = 1) -> Bool {
            let original = original
            guard
                let update = index.updated(
                    changes, threads: threads, isOnDisk: { _ in threads > 1 || original.count % 2 == 0 },
                    coordinates: { point in
                        let place = original[Int(point.rawValue)]
                        return (place.longitude, place.latitude)
                    })
            else { return false }
            index = update.index
            for point in changes.removed { places[Int(point.rawValue)] = nil }
            for placement in changes.moved {
                places[Int(placement.point.rawValue)] = Position(
                    longitude: placement.longitude, latitude: placement.latitude)
            }
            for placement in changes.added {
                places.append(Position(longitude: placement.longitude, latitude: placement.latitude))
            }
            return true
        }
    }

    /// What a node shows, without numbers that depend on gaps.
    struct Shown: Equatable, CustomStringConvertible {
        var x = 0.0
        var y = 0.0
        var zoom = -1
        var leaves: [Int] = []
        /// By child: its first leaf and how many it has.
        var children: [[Int]] = []
        /// The same of the parent.
        var parent: [Int]?

        var description: String { "(\(x), \(y)) zoom \(zoom) leaves \(leaves.prefix(6)) of \(leaves.count)" }
    }

    private static func leaves(_ node: Node, _ index: ClusterIndex) -> [Int] {
        switch node {
        case .point(let point): [index.inputIndex(of: point)]
        case .cluster(let cluster): index.leaves(of: cluster).map { index.inputIndex(of: $0) }
        }
    }

    private static func ends(_ node: Node, _ index: ClusterIndex) -> [Int] {
        guard case .cluster(let cluster) = node else { return leaves(node, index) }
        let leaves = index.leaves(of: cluster)
        return [index.inputIndex(of: leaves[0]), leaves.count]
    }

    private static func shown(_ node: Node, _ index: ClusterIndex) -> Shown {
        var shown = Shown(leaves: leaves(node, index))
        shown.parent = index.parent(of: node).map { ends(.cluster($0), index) }
        if case .cluster(let cluster) = node {
            (shown.x, shown.y) = index.unitPosition(of: cluster)
            shown.zoom = index.zoom(of: cluster).rawValue
            shown.children = index.children(of: cluster).map { ends($0, index) }
            #expect(index.pointCount(of: cluster) == shown.leaves.count)
            #expect(index.cluster(id: index.id(of: cluster)) == cluster)
        }
        return shown
    }

    static func answers(_ index: ClusterIndex) -> [[Shown]] {
        (index.options.minimumZoom...index.options.maximumZoom + 1).map { level in
            var nodes: [Node] = []
            _ = index.nodes(west: -180, south: -90, east: 180, north: 90, at: Zoom(rawValue: level), into: &nodes)
            return nodes.map { shown($0, index) }
        }
    }

    /// Compares every level's answer; tells the first difference.
    static func expectEqual(_ live: Live, _ label: String) throws {
        let fresh = try ClusterIndex.build(live.places.compactMap { $0 }, live.index.options)
        #expect(live.index.pointCount == fresh.pointCount, "\(label)")
        #expect(live.index.clusterCount == fresh.clusterCount, "\(label)")
        for (place, (mine, theirs)) in zip(answers(live.index), answers(fresh)).enumerated() {
            let level = place + live.index.options.minimumZoom
            guard mine != theirs else { continue }
            let first = zip(mine, theirs).first { $0 != $1 }
            Issue.record(
                "\(label), level \(level): \(mine.count) and \(theirs.count) nodes; \(String(describing: first))"
            )
            return
        }
    }

    static func changes(
        _ random: inout SeededGenerator, _ live: Live, count: Int, area: (inout SeededGenerator) -> Position
    ) -> PointChanges {
        var changes = PointChanges()
        var used: Set<Int> = []
        for _ in 0..<count {
            let kind = random.next() % 3
            let alive = live.places.indices.filter { live.places[$0] != nil && !used.contains($0) }
            if kind == 0 || alive.isEmpty {
                let place = area(&random)
                let number = live.index.pointLimit + changes.added.count
                changes.added.append(
                    .init(
                        point: PointIndex(rawValue: UInt32(number)), longitude: place.longitude,
                        latitude: place.latitude))
                continue
            }
            let point = alive[Int(random.next() % UInt64(alive.count))]
            used.insert(point)
            if kind == 1 {
                changes.removed.append(PointIndex(rawValue: UInt32(point)))
            } else {
                // Now and then only the contents change.
                let place = random.next() % 4 == 0 ? live.places[point] ?? area(&random) : area(&random)
                changes.moved.append(
                    .init(
                        point: PointIndex(rawValue: UInt32(point)), longitude: place.longitude,
                        latitude: place.latitude))
            }
        }
        return changes
    }

    static let areas: [@Sendable (inout SeededGenerator) -> Position] = [
        {
            Position(
                longitude: Double.random(in: 0..<1, using: &$0) * 0.02,
                latitude: Double.random(in: 0..<1, using: &$0) * 0.02)
        },
        {
            Position(
                longitude: Double.random(in: 0..<1, using: &$0) * 300 - 150,
                latitude: Double.random(in: 0..<1, using: &$0) * 140 - 70)
        },
        {
            Position(
                longitude: (Double.random(in: 0...8, using: &$0)).rounded() / 1e4,
                latitude: (Double.random(in: 0...8, using: &$0)).rounded() / 1e4)
        },
        {
            Position(
                longitude: (Double.random(in: 0...3, using: &$0)).rounded() * 40,
                latitude: Double.random(in: 0..<1, using: &$0) * 0.001)
        },
    ]

    static let variants: [ClusteringOptions] = [
        ClusteringOptions(), ClusteringOptions(radius: 75, extent: 256, maximumZoom: 9),
        ClusteringOptions(minimumZoom: 3, maximumZoom: 24, precision: .double),
        ClusteringOptions(radius: 0, maximumZoom: 4), ClusteringOptions(radius: 200, maximumZoom: 12, minimumPoints: 1),
        ClusteringOptions(maximumZoom: 20, precision: .fixed),
        ClusteringOptions(radius: 100, maximumZoom: 10, projection: PlaneTests.plane),
    ]

    @Test("follows random sequences", arguments: 0..<28) func followsRandomSequences(_ seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed) + 77)
        let options = Self.variants[seed % Self.variants.count]
        let area = Self.areas[seed / Self.variants.count % Self.areas.count]
        for round in 0..<8 {
            let start = Int(random.next() % 40)
            var live = try Live((0..<start).map { _ in area(&random) }, options)
            for step in 0..<20 {
                let changes = Self.changes(&random, live, count: Int(random.next() % 4) + 1, area: area)
                guard live.apply(changes) else {
                    Issue.record("refused")
                    return
                }
                try Self.expectEqual(live, "seed \(seed), round \(round), step \(step), \(changes)")
            }
        }
    }

    /// Changes in town and country of larger sets, several at once.
    @Test(
        "follows changes of larger sets", arguments: [PointSet.gathered, .uniform, .crowd, .duplicates, .edges, .grid])
    func followsChangesOfLargerSets(_ set: PointSet) throws {
        var random = SeededGenerator(state: 5)
        var live = try Live(set.places(1500), ClusteringOptions())
        let pool = set.places(3000, seed: 9)
        for (step, count) in [1, 40, 3, 90].enumerated() {
            let changes = Self.changes(&random, live, count: count) {
                pool[Int.random(in: 0..<pool.count, using: &$0)]
            }
            guard live.apply(changes) else {
                Issue.record("refused")
                return
            }
            try Self.expectEqual(live, "\(set) step \(step)")
        }
    }

    /// So many at once that nodes are looked at beforehand, on several threads.
    @Test("follows many changes on several threads", arguments: [PointSet.gathered, .uniform, .crowd, .duplicates])
    func followsManyChangesOnSeveralThreads(_ set: PointSet) throws {
        var random = SeededGenerator(state: 6)
        var live = try Live(set.places(5000), ClusteringOptions())
        let pool = set.places(9000, seed: 11)
        for step in 0..<3 {
            let changes = Self.changes(&random, live, count: 300) { pool[Int.random(in: 0..<pool.count, using: &$0)] }
            guard live.apply(changes, threads: step + 1) else {
                Issue.record("refused")
                return
            }
            try Self.expectEqual(live, "\(set) step \(step)")
        }
    }

    /// Sparse points, so that most changes pass the deepest zooms without being followed there, with radii that do not
    /// shrink with the zoom, weights and partitions; and as a checkpoint restores the index.
    @Test("follows changes of points far from others", arguments: 0..<12)
    func followsChangesOfPointsFarFromOthers(_ seed: Int) throws {
        var random = SeededGenerator(state: UInt64(seed) + 900)
        var options = ClusteringOptions(
            radius: [40, 3, 100][seed % 3], maximumZoom: [16, 8, 20][seed / 3 % 3],
            minimumPoints: 1 + seed % 2, precision: [.float, .fixed, .double, .float][seed % 4])
        if seed % 2 == 1 { options.radii[options.maximumZoom - 2] = 4000 }
        let pool = PointSet.uniform.places(900, seed: UInt64(seed)) + PointSet.gathered.places(100, seed: UInt64(seed))
        func place() -> Position { pool[Int.random(in: 0..<pool.count, using: &random)] }
        func weight() -> Double { Double(Int.random(in: 1...9, using: &random)) }
        var places = (0..<600).map { _ in place() }
        var weights = places.map { _ in weight() }
        var partitions = places.map { _ in UInt32.random(in: 0..<2, using: &random) }
        let original = places
        var index = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
        let plain = index
        for step in 0..<12 {
            var changes = PointChanges()
            // As many as are worth a second thread, or fewer.
            let moving = places.indices.shuffled(using: &random).prefix(step % 2 == 1 ? 64 : 36).sorted()
            for point in moving {
                // Some move hardly, some not at all.
                var moved = step % 3 == 0 ? places[point] : place()
                moved.latitude += [0, 1e-7, 1e-4][step / 3 % 3]
                (places[point], weights[point]) = (moved, weight())
                partitions[point] = UInt32.random(in: 0..<2, using: &random)
                changes.moved.append(
                    .init(
                        point: PointIndex(rawValue: UInt32(point)), longitude: moved.longitude,
                        latitude: moved.latitude, weight: weights[point], partition: partitions[point]))
            }
            let update = index.updated(changes, threads: 1 + step % 2) { point in
                let place = original[Int(point.rawValue)]
                return (place.longitude, place.latitude)
            }
            index = try #require(update).index
            if step % 4 == 3 {
                let sections = index.deltaSections.map { ($0.section, $0.bytes) }
                var buffers: [DeltaSection: UnsafeRawBufferPointer] = [:]
                for (section, bytes) in sections {
                    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
                    buffer.copyBytes(from: bytes)
                    buffers[section] = UnsafeRawBufferPointer(buffer)
                }
                defer { buffers.values.forEach { $0.deallocate() } }
                index = try #require(plain.with(deltaSections: buffers))
            }
            let fresh = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
            #expect(index.clusterCount == fresh.clusterCount)
            for (level, (mine, theirs)) in zip(Self.answers(index), Self.answers(fresh)).enumerated() {
                let first = zip(mine, theirs).first { $0 != $1 }
                #expect(mine == theirs, "seed \(seed), step \(step), level \(level): \(String(describing: first))")
                guard mine == theirs else { return }
            }
        }
    }

    @Test("points far from others pass zooms unchanged, others do not")
    func pointsFarFromOthersPassUnchanged() throws {
        var places = PointSet.crowd.places(1000) + [Position(longitude: -100, latitude: 0)]
        // At zoom 8 the radius is 0.11 degrees, and with those of all deeper zooms it is 0.22.
        places += [Position(longitude: 50, latitude: 0), Position(longitude: 50.15, latitude: 0)]
        var live = try Live(places, ClusteringOptions())
        func levels() throws -> [Int] {
            guard case .float(let spatial) = live.index.layers.base.spatial else { throw ClusteringError.cancelled }
            var layers = live.index.layers
            layers.delta.open(live.index.options)
            let lone = LonePoints(layers: layers, spatial: spatial)
            return [0, 1000, 1001, 1002].map { point in
                let (x, y) = live.index.options.unitPosition(
                    live.places[point]!.longitude, live.places[point]!.latitude)
                return lone.level(of: UInt32(point), Double(Float(x)), Double(Float(y)))
            }
        }
        #expect(try levels() == [17, 3, 9, 9])
        var changes = PointChanges()
        changes.moved = [.init(point: PointIndex(rawValue: 1000), longitude: 50.0, latitude: 0.0001)]
        let isFollowed = live.apply(changes)
        #expect(isFollowed)
        #expect(try levels() == [17, 17, 17, 9], "the positions of moved points count")
        changes.moved = [.init(point: PointIndex(rawValue: 1000), longitude: -100, latitude: 0)]
        let isFollowedAgain = live.apply(changes)
        #expect(isFollowedAgain)
        #expect(try levels() == [17, 3, 17, 9], "their former positions count too")
        try Self.expectEqual(live, "moved there and back")
    }

    @Test("follows the removal of the claimant of many coincident points")
    func followsTheRemovalOfWhoClaimedAllAtOnePlace() throws {
        var live = try Live(PointSet.onePlace.places(2000), ClusteringOptions())
        for step in 0..<2 {
            var changes = PointChanges()
            changes.removed = (10 * step..<10 * step + 10).map { PointIndex(rawValue: UInt32($0)) }
            guard live.apply(changes, threads: 2) else {
                Issue.record("refused")
                return
            }
            try Self.expectEqual(live, "step \(step)")
        }
    }

    @Test("coincident nodes are not all compared with each other")
    func nodesAtOnePlaceAreNotAllComparedWithEachOther() throws {
        let index = try ClusterIndex.build(PointSet.onePlace.places(2000), ClusteringOptions())
        guard case .float(let spatial) = index.layers.base.spatial else { return }
        let positions = PointPositionCache<Float>(index.layers.base, spatial, isOnDisk: { _ in true }) { _ in
            PointSet.onePlace.places(1).map { ($0.longitude, $0.latitude) }[0]
        }
        var layers = index.layers
        layers.delta.open(index.options)
        let level = LevelReader(layers: layers, spatial: spatial, positions: positions)
        let search = NeighbourSearch(
            level, zoom: 16, departed: [layers.departure(NodeKey(rawValue: 0), positions)], arrived: [])
        let keys = (1..<2000).map { NodeKey(rawValue: $0) }
        let prefetch = NeighbourPrefetch(keys, search, [positions], Parallel(.shared, threads: 1, smallestShare: 64))
        #expect(prefetch.compared >= 2000)
        #expect(prefetch.compared <= NeighbourPrefetch<Float>.mostCompared + 2000)
    }

    @Test("refuses more nodes than can be numbered") func refusesMoreNodesThanCanBeNumbered() throws {
        let places = PointSet.gathered.places(100)
        func build(limit: Int) throws -> ClusterIndex {
            let (longitudes, latitudes) = (places.map(\.longitude), places.map(\.latitude))
            return try longitudes.withUnsafeBufferPointer { longitudes in
                try latitudes.withUnsafeBufferPointer { latitudes in
                    try ClusterIndex.build(
                        ProjectedPoints(
                            longitudes: longitudes, latitudes: latitudes, options: ClusteringOptions(),
                            Parallel(.awake, threads: 1), limit: limit))
                }
            }
        }
        #expect(throws: ClusteringError.tooManyPoints(100)) { try build(limit: 199) }
        let index = try build(limit: 200)
        var changes = PointChanges()
        changes.added = [.init(point: PointIndex(rawValue: 100), longitude: 1, latitude: 1)]
        func updated(limit: Int) -> IndexUpdate? {
            index.updated(changes, threads: 1, limit: limit) { _ in (0, 0) }
        }
        #expect(updated(limit: 201) == nil)
        #expect(ClusterIndex.nodeLimit == 0xFFFF_FFFF)
    }

    @Test("clusters that a change does not touch keep their ids") func leavesUntouchedClustersTheirIds() throws {
        var live = try Live(PointSet.gathered.places(2000), ClusteringOptions())
        let before = live.index
        var changes = PointChanges()
        changes.removed = [PointIndex(rawValue: 17)]
        guard live.apply(changes) else {
            Issue.record("refused")
            return
        }
        var kept = 0
        for ordinal in 0..<UInt32(before.clusterCount) {
            let cluster = ClusterOrdinal(rawValue: ordinal)
            let holds = before.leaves(of: cluster).contains { $0.rawValue == 17 }
            let found = live.index.cluster(id: before.id(of: cluster))
            if holds { #expect(found == nil) }
            if found == cluster { kept += 1 }
        }
        #expect(kept > before.clusterCount - 60)
        #expect(live.index.contains(PointIndex(rawValue: 16)))
        #expect(!live.index.contains(PointIndex(rawValue: 17)))
    }

    @Test("refuses what it cannot follow") func refusesWhatItCannotFollow() throws {
        let places = PointSet.gathered.places(300)
        var changes = PointChanges()
        changes.removed = [PointIndex(rawValue: 1)]
        let threes = try ClusterIndex.build(places, ClusteringOptions(minimumPoints: 3))
        #expect(!threes.takesUpdates)
        #expect(threes.updated(changes, coordinates: { _ in (0, 0) }) == nil)
        var many = PointChanges()
        many.removed = (0..<200).map { PointIndex(rawValue: $0) }
        let plain = try ClusterIndex.build(places, ClusteringOptions())
        #expect(plain.updated(many, coordinates: { _ in (0, 0) }) == nil)
    }

    @Test("invalid boxes show nothing") func boxesThatAreNoneShowNothing() throws {
        var live = try Live(PointSet.uniform.places(50), ClusteringOptions())
        var changes = PointChanges()
        changes.added = [.init(point: PointIndex(rawValue: 50), longitude: 10, latitude: 10)]
        guard live.apply(changes) else {
            Issue.record("refused")
            return
        }
        var nodes: [Node] = []
        for (south, north) in [(20.0, 0.0), (90, -90), (10.0001, 9.9999)] {
            _ = live.index.nodes(west: 0, south: south, east: 20, north: north, at: Zoom(rawValue: 17), into: &nodes)
            #expect(nodes.isEmpty)
        }
        _ = live.index.nodes(west: 10, south: 10, east: 10, north: 10, at: Zoom(rawValue: 17), into: &nodes)
        var tiles: [ClusterIndex.TileNode] = []
        live.index.tileNodes(z: 30, x: 0, y: 0, into: &tiles)
        #expect(tiles.isEmpty)
    }
}
