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

    @Test("in an order by hash, nearly nothing depends on what lies beyond a margin of eight radii")
    func margins() throws {
        for seed in 1...3 as ClosedRange<UInt64> {
            let places = Self.ordered(PointSet.uniform.places(20_000, seed: seed), .byHash)
            let build = PartBuild(options: ClusteringOptions(minimumZoom: 3, maximumZoom: 9))
            _ = try build.index(places, side: 3)
            #expect(build.left.open * 200 <= places.count, "\(build.left.open) nodes were left open")
        }
    }

    @Test("what parts leave open is decided in windows of the order", arguments: PointSet.allCases, Order.allCases)
    func windows(_ set: PointSet, _ order: Order) throws {
        for (number, options) in Self.optionSets.enumerated() {
            let places = Self.ordered(set.places(700, seed: UInt64(number + 11)), order)
            let whole = try ClusterIndex.build(places, options)
            let build = PartBuild(options: options)
            build.marginFactor = 0.25
            build.windowBytes = 64 * 24
            build.hasCrowd = true
            let parted = try build.index(places, side: 5)
            Self.expectEqual(parted, whole, "\(set), \(order), options \(number)")
            #expect(build.left.open > 0, "\(set), \(order), options \(number)")
        }
    }

    @Test("nodes open, claimed across borders and taken from others all occur")
    func kinds() throws {
        let options = ClusteringOptions(minimumZoom: 2, maximumZoom: 8)
        let build = PartBuild(options: options)
        build.marginFactor = 0.25
        let places = Self.ordered(PointSet.uniform.places(5000, seed: 3), .byLongitude)
        let parted = try build.index(places, side: 4)
        Self.expectEqual(parted, try ClusterIndex.build(places, options), "uniform points")
        let left = build.left
        #expect(left.open > 0 && left.claimed > 0 && left.taken > 0 && left.windows == 1, "\(left)")
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

/// Clusters points group by group of zooms, each in a grid of parts, and what these leave open in windows of the order.
private final class PartBuild {
    let options: ClusteringOptions
    let weights: [Double]?
    let partitions: [UInt32]?
    /// How wide margins are, in those of eight radii.
    var marginFactor = 1.0
    var windowBytes = 1 << 20
    /// Whether one square of the grid is a hole in the parts around it.
    var hasCrowd = false
    /// What parts have left open, in all.
    private(set) var left = (open: 0, claimed: 0, taken: 0, windows: 0)
    private var clusters: [(FormedCluster, [NodeName])] = []

    init(options: ClusteringOptions, weights: [Double]? = nil, partitions: [UInt32]? = nil) {
        (self.options, self.weights, self.partitions) = (options, weights, partitions)
    }

    /// What the parts of a level leave open.
    private struct Rest {
        var open: [OpenNode] = []
        var claimed: [ClaimedNode] = []
        var taken: [NodeName] = []
    }

    func index(_ places: [Position], side: Int) throws -> ClusterIndex {
        let points = places.enumerated().map { index, place in
            options.node(
                longitude: place.longitude, latitude: place.latitude, weight: weights?[index] ?? 1,
                order: UInt32(index), partition: partitions?[index] ?? 0)
        }
        var level = points
        var zoom = options.maximumZoom
        while zoom >= options.minimumZoom {
            let zooms = max(options.minimumZoom, zoom - 2)...zoom
            let side = zoom > options.minimumZoom + 2 ? side : 1
            let margin = marginFactor * LevelPart.margin(options, zooms: zooms)
            var squares = (0..<side * side).map { LevelPart(Self.square($0, side), margin: margin) }
            var next: [LevelNode] = []
            var rest = Rest()
            if hasCrowd, side > 1 {
                let crowd = squares.remove(
                    at: squares.firstIndex { $0.owns(x: points[0].x, y: points[0].y) } ?? 0)
                let nodes = level.filter { crowd.owns(x: $0.x, y: $0.y) }
                rest.open += nodes.map { OpenNode($0, zoom: UInt32(zoom)) }
                let around = level.filter { !crowd.owns(x: $0.x, y: $0.y) }
                for var part in squares {
                    part.holes = [crowd.area].filter { part.touches($0) }
                    try cluster(around, zooms, part, &next, &rest)
                }
            } else {
                for part in squares { try cluster(level, zooms, part, &next, &rest) }
            }
            next += stream(rest, zooms)
            level = next.sorted { $0.order < $1.order }
            zoom = zooms.lowerBound - 1
        }
        return try assemble(points, clusters)
    }

    private static func square(_ index: Int, _ side: Int) -> LevelRectangle {
        let width = 1 / Double(side)
        let (west, north) = (Double(index % side) * width, Double(index / side) * width)
        return LevelRectangle(
            west: west, north: north, east: index % side == side - 1 ? 1 : Double(index % side + 1) * width,
            south: index / side == side - 1 ? 1 : Double(index / side + 1) * width)
    }

    private func cluster(
        _ level: [LevelNode], _ zooms: ClosedRange<Int>, _ part: LevelPart, _ next: inout [LevelNode],
        _ rest: inout Rest
    ) throws {
        let (area, margin) = (part.area, part.margin)
        let known = level.filter {
            $0.x >= area.west - margin && $0.x <= area.east + margin && $0.y >= area.north - margin
                && $0.y <= area.south + margin
        }
        try known.withUnsafeBufferPointer { known in
            let group = try LevelGroup.cluster(known, options, zooms: zooms, part: part)
            group.forEachCluster {
                clusters.append(($0, $1))
            } taken: {
                rest.taken.append($0)
            } claimed: {
                rest.claimed.append($0)
            }
            group.forEachSurvivor { next.append($0) }
            group.forEachOpenNode { rest.open.append($0) }
        }
    }

    /// Decides what is open, in windows of the order.
    ///
    /// - Returns: what is alive at the lowest zoom.
    private func stream(_ rest: Rest, _ zooms: ClosedRange<Int>) -> [LevelNode] {
        left.open += rest.open.count
        left.claimed += rest.claimed.count
        left.taken += rest.taken.count
        var alive: [LevelNode] = []
        for zoom in zooms.reversed() {
            let taken = Set(rest.taken.filter { $0.zoom == zoom }.map(\.order))
            alive += rest.open.filter { $0.zoom == zoom }.map(\.node)
            var nodes = alive.filter { !taken.contains($0.order) }.sorted { $0.order < $1.order }
            var members: [UInt32: [LevelNode]] = [:]
            for claim in rest.claimed where claim.zoom == zoom {
                members[claim.claimant, default: []].append(claim.node)
            }
            var claimants: [LevelNode] = []
            var windows = 0
            while !nodes.isEmpty {
                let window = ClaimWindow(options, zoom: zoom, memory: windowBytes)
                windows += 1
                var later: [LevelNode] = []
                for node in nodes {
                    window.fetch(node)
                    if let claimant = window.claimant(of: node) {
                        members[claimant, default: []].append(node)
                    } else if window.isFull {
                        later.append(node)
                    } else {
                        window.add(node)
                        claimants.append(node)
                    }
                }
                nodes = later
            }
            left.windows = max(left.windows, windows)
            alive = claimants.map { claimant in
                var growing = GrowingCluster(claimant)
                let children = (members[claimant.order] ?? []).sorted { $0.order < $1.order }
                for child in children { growing.add(child) }
                let node = growing.node(options, zoom: zoom)
                if !children.isEmpty {
                    let names = [claimant.name] + children.map(\.name)
                    clusters.append((FormedCluster(node, childCount: names.count), names))
                }
                return node
            }
        }
        return alive
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
