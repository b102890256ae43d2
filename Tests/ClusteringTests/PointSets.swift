// SPDX-License-Identifier: MIT
import Foundation
import SystemSupport
@testable import Clustering

/// A small generator with a fixed seed (SplitMix64; Steele, Lea, Flood, 2014), so that a failure repeats.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Shapes of data that clustering meets, each the same for the same seed.
enum PointSet: String, CaseIterable, Sendable {
    case uniform, gathered, pairs, duplicates, line, column, grid, onePlace, crowd, edges

    func places(_ count: Int, seed: UInt64 = 1) -> [Position] {
        var random = SeededGenerator(state: seed)
        func uniform(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }
        switch self {
        case .uniform:
            return (0..<count).map { _ in Position(longitude: uniform(-180...180), latitude: uniform(-85...85)) }
        case .gathered:
            let towns = (0..<20).map { _ in (uniform(-170...170), uniform(-60...70), uniform(0.001...1)) }
            return (0..<count).map { _ in
                let town = towns[Int.random(in: 0..<20, using: &random)]
                return Position(
                    longitude: town.0 + (uniform(-1...1) + uniform(-1...1)) * town.2,
                    latitude: town.1 + (uniform(-1...1) + uniform(-1...1)) * town.2)
            }
        case .pairs:
            // A sixteenth has another one near, at any distance: from the same place to beyond the deep zooms' radii.
            return (0..<count).reduce(into: []) { places, index in
                guard index % 16 == 15, let other = places.randomElement(using: &random) else {
                    return places.append(Position(longitude: uniform(-180...180), latitude: uniform(-85...85)))
                }
                let distance = index % 32 == 15 ? 0 : exp2(uniform(-24...2))
                places.append(
                    Position(
                        longitude: min(180, max(-180, other.longitude + uniform(-1...1) * distance)),
                        latitude: min(85, max(-85, other.latitude + uniform(-1...1) * distance))))
            }
        case .duplicates:
            return (0..<count).map { _ in
                Position(
                    longitude: Double(Int.random(in: -9...9, using: &random)) / 7,
                    latitude: Double(Int.random(in: -9...9, using: &random)) / 7)
            }
        case .line:
            return (0..<count).map {
                Position(longitude: Double($0) * 300 / Double(count) - 150, latitude: 12.5)
            }
        case .column:
            return (0..<count).map { Position(longitude: 7, latitude: Double($0) * 160 / Double(count) - 80) }
        case .grid:
            let side = Int(Double(count).squareRoot())
            return (0..<side * side).map {
                Position(longitude: Double($0 % side) * 0.5 - 20, latitude: Double($0 / side) * 0.5 - 20)
            }
        case .onePlace:
            return Array(repeating: Position(longitude: 2.35, latitude: 48.85), count: count)
        case .crowd:
            return (0..<count).map { _ in
                Position(longitude: 10 + uniform(-0.01...0.01), latitude: 20 + uniform(-0.01...0.01))
            }
        case .edges:
            let corners = [(-180.0, 0.0), (180, 0), (0, 90), (0, -90), (179.999999, 45), (-179.999999, 45)]
            return (0..<count).map { _ in
                let corner = corners[Int.random(in: 0..<corners.count, using: &random)]
                return Position(longitude: corner.0, latitude: corner.1)
            }
        }
    }
}

extension ClusterIndex {
    static func build(
        _ places: [Position], _ options: ClusteringOptions, weights: [Double]? = nil,
        partitions: [UInt32]? = nil, threads: Int = 1, smallestShare: Int = Parallel.smallestShare,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> ClusterIndex {
        let longitudes = places.map(\.longitude)
        let latitudes = places.map(\.latitude)
        return try longitudes.withUnsafeBufferPointer { longitudes in
            try latitudes.withUnsafeBufferPointer { latitudes in
                let parallel = Parallel(
                    .awake, threads: threads, smallestShare: smallestShare, isCancelled: isCancelled)
                let points = try ProjectedPoints(
                    longitudes: longitudes, latitudes: latitudes, options: options, parallel)
                return try build(points, weights: weights, partitions: partitions, parallel)
            }
        }
    }

    func all(at zoom: Int) -> [Node] {
        var nodes: [Node] = []
        let domain = options.projection.domain
        _ = self.nodes(
            west: domain.west, south: domain.south, east: domain.east, north: domain.north,
            at: Zoom(rawValue: zoom), into: &nodes)
        return nodes
    }

    /// What is seen at a zoom: `c<id>:<count>` and `p<index>`, sorted.
    func seen(at zoom: Int) -> [String] { all(at: zoom).map(label).sorted() }

    func label(_ node: Node) -> String {
        switch node {
        case .point(let point): "p\(point.rawValue)"
        case .cluster(let cluster): "c\(id(of: cluster)):\(pointCount(of: cluster))"
        }
    }
}

extension ClusterIndex {
    /// The names of the arrays, as a snapshot keeps them, that differ from another index's.
    func sections(otherThan other: ClusterIndex) -> [String] {
        let (mine, others) = (sectionBytes, other.sectionBytes)
        return Set(mine.keys).union(others.keys).filter { mine[$0] != others[$0] }.sorted()
    }

    private var sectionBytes: [String: [UInt8]] {
        var sections: [String: [UInt8]] = [:]
        forEachSection { name, bytes in sections["\(name)"] = Array(bytes) }
        // Between slots of the longer numbers there are bytes that nobody writes.
        if case .double(let spatial) = layers.base.spatial {
            sections["spatialSlots"] = (0..<spatial.slots.count).flatMap { place -> [UInt8] in
                let slot = spatial.slots[place]
                return withUnsafeBytes(of: (slot.x, slot.y, UInt64(slot.node))) { Array($0) }
            }
        }
        return sections
    }
}

extension LevelList {
    /// The list of the deepest level.
    static func deepest(
        of points: PointColumns<Scalar>, _ options: ClusteringOptions, partitions: UnsafePointer<UInt32>? = nil,
        _ parallel: Parallel = Parallel(.awake, threads: 1)
    ) -> LevelList<Scalar> {
        LevelList(
            capacity: points.count,
            rowHeight: LevelRadius<Scalar>(options.unitRadius(at: options.maximumZoom)).rowHeight,
            partitions: partitions, parallel: parallel
        ) { entries in
            for place in 0..<points.count {
                entries[place] = LevelEntry(
                    x: points.x.base[place], y: points.y.base[place], order: UInt32(place), node: UInt32(place))
            }
        }
    }
}

extension PointColumns {
    init(_ places: [Position], _ options: ClusteringOptions) throws {
        let (longitudes, latitudes) = (places.map(\.longitude), places.map(\.latitude))
        self = try longitudes.withUnsafeBufferPointer { longitudes in
            try latitudes.withUnsafeBufferPointer { latitudes in
                try PointColumns(longitudes, latitudes, options, Parallel(.awake, threads: 1))
            }
        }
    }
}
