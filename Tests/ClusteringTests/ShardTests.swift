// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Levels clustered in parts") struct ShardTests {
    /// How points are ordered before they are clustered.
    enum Order: CaseIterable, Sendable { case asGiven, byHash, byLongitude }

    static let optionSets = [
        ClusteringOptions(), ClusteringOptions(minimumZoom: 2, maximumZoom: 9, precision: .double),
        ClusteringOptions(radius: 90, maximumZoom: 12, precision: .fixed),
        ClusteringOptions(radius: 60, maximumZoom: 18),
    ]

    @Test(
        "parts of any level give the index that all points at once give", arguments: PointSet.allCases, Order.allCases)
    func equality(_ set: PointSet, _ order: Order) throws {
        for (number, options) in Self.optionSets.enumerated() {
            let places = Self.ordered(set.places(900, seed: UInt64(number + 1)), order)
            let isWeighted = number % 2 == 1
            let weights = isWeighted ? places.indices.map { Double($0 % 5) + 0.25 } : nil
            let partitions = number == 2 ? places.indices.map { UInt32($0 % 3) } : nil
            let whole = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
            let build = PartBuild(options: options, weights: weights, partitions: partitions)
            let parted = try build.index(places, side: 4)
            Self.expectEqual(parted, whole, "\(set), \(order), options \(number)")
        }
    }

    @Test("in an order by hash, nothing depends on what lies beyond a margin of eight radii")
    func margins() throws {
        var (decided, repeated) = (0, 0)
        for seed in 1...3 as ClosedRange<UInt64> {
            let places = Self.ordered(PointSet.uniform.places(20_000, seed: seed), .byHash)
            let build = PartBuild(options: ClusteringOptions(minimumZoom: 3, maximumZoom: 9))
            _ = try build.index(places, side: 3)
            (decided, repeated) = (decided + build.decided, repeated + build.repeated)
        }
        #expect(repeated * 20 <= decided, "\(repeated) of \(decided) parts needed a wider margin")
    }

    static func ordered(_ places: [Position], _ order: Order) -> [Position] {
        var random = SeededGenerator(state: 7)
        switch order {
        case .asGiven: return places
        case .byHash: return places.shuffled(using: &random)
        case .byLongitude: return places.sorted { ($0.longitude, $0.latitude) < ($1.longitude, $1.latitude) }
        }
    }

    static func expectEqual(_ index: ClusterIndex, _ expected: ClusterIndex, _ what: String) {
        var sections: [IndexSection: [UInt8]] = [:]
        expected.forEachSection { section, bytes in sections[section] = Array(bytes) }
        index.forEachSection { section, bytes in
            let isSame = Array(bytes) == sections.removeValue(forKey: section)
            #expect(isSame, "\(section) of \(what)")
        }
        #expect(sections.isEmpty, "\(sections.keys) of \(what)")
    }
}

/// Clusters points group by group of zooms, each in a grid of parts.
private final class PartBuild {
    let options: ClusteringOptions
    let weights: [Double]?
    let partitions: [UInt32]?
    private(set) var decided = 0
    /// How often a part had to be clustered again with a wider margin.
    private(set) var repeated = 0

    init(options: ClusteringOptions, weights: [Double]? = nil, partitions: [UInt32]? = nil) {
        (self.options, self.weights, self.partitions) = (options, weights, partitions)
    }

    func index(_ places: [Position], side: Int) throws -> ClusterIndex {
        let points = places.enumerated().map { index, place in
            options.node(
                longitude: place.longitude, latitude: place.latitude, weight: weights?[index] ?? 1,
                order: UInt32(index), partition: partitions?[index] ?? 0)
        }
        var clusters: [(FormedCluster, [NodeName])] = []
        var level = points
        var zoom = options.maximumZoom
        while zoom >= options.minimumZoom {
            let zooms = max(options.minimumZoom, zoom - 2)...zoom
            let side = zoom > options.minimumZoom + 2 ? side : 1
            var next: [LevelNode] = []
            for part in 0..<side * side {
                let width = 1 / Double(side)
                let (west, north) = (Double(part % side) * width, Double(part / side) * width)
                var square = LevelPart(
                    west: west, north: north, east: west + width, south: north + width,
                    margin: LevelPart.margin(options, zooms: zooms))
                if part % side == side - 1 { square.east = 1 }
                if part / side == side - 1 { square.south = 1 }
                try cluster(level, zooms, square, &clusters, &next)
            }
            level = next.sorted { $0.order < $1.order }
            zoom = zooms.lowerBound - 1
        }
        return try assemble(points, clusters)
    }

    private func cluster(
        _ level: [LevelNode], _ zooms: ClosedRange<Int>, _ part: LevelPart,
        _ clusters: inout [(FormedCluster, [NodeName])], _ next: inout [LevelNode]
    ) throws {
        var part = part
        while true {
            let known = level.filter { part.knows(x: $0.x, y: $0.y) }
            let isDone = try known.withUnsafeBufferPointer { known in
                guard
                    let group = try LevelGroup.cluster(
                        known, options, zooms: zooms, parts: [part], isWhole: false)
                else { return false }
                group.forEachCluster { clusters.append(($0, $1)) }
                group.forEachSurvivor { next.append($0) }
                return true
            }
            decided += 1
            if isDone { return }
            repeated += 1
            part.margin = 4 * part.margin + 1e-9
        }
    }

    private func assemble(_ points: [LevelNode], _ clusters: [(FormedCluster, [NodeName])]) throws -> ClusterIndex {
        var counts = [Int](repeating: 0, count: options.maximumZoom + 1)
        for (cluster, _) in clusters { counts[Int(cluster.zoom)] += 1 }
        let assembly = try IndexAssembly(
            options: options, pointCount: points.count, counts: counts, hasWeights: weights != nil,
            hasPartitions: partitions != nil, threads: 1)
        for point in points.reversed() { assembly.set(point) }
        for (cluster, _) in clusters.reversed() { try assembly.announce(cluster) }
        assembly.endAnnouncements()
        for (cluster, _) in clusters { assembly.set(cluster) }
        assembly.endClusters()
        for (cluster, children) in clusters { assembly.setChildren(children, of: cluster.name) }
        return try assembly.finish()
    }
}
