// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Clustering
@testable import SystemSupport

@Suite("Indexes in mapped files")
struct MappedIndexTests {
    /// An index in a file of its own, parts of which can be turned to zeros.
    private struct Mapped {
        let file: UnnamedFile
        let index: ClusterIndex
        var size: Int { index.mappedBytes }

        init(_ built: ClusterIndex) throws {
            let folder = try FileIO.open(NSTemporaryDirectory(), O_RDONLY | O_DIRECTORY)
            let file = try UnnamedFile(in: folder, path: "an index")
            self.file = file
            index = try #require(try built.mapped(columnsFrom: 1) { try MappedRegion($0, to: file) })
        }

        /// Turns a part of the file to zeros, as a lost page would be.
        func lose(_ range: Range<Int>) throws {
            try file.write([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
        }
    }

    private struct Data {
        let places: [Position]
        let options: ClusteringOptions
        var weights: [Double]?
        var partitions: [UInt32]?

        func build() throws -> ClusterIndex {
            try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
        }
    }

    private static let data: [Data] = {
        let places = PointSet.gathered.places(2000)
        let weights = places.indices.map { Double($0 % 7 + 1) }
        return [
            Data(places: places, options: ClusteringOptions()),
            Data(places: places, options: ClusteringOptions(precision: .fixed), weights: weights),
            Data(
                places: places, options: ClusteringOptions(maximumZoom: 20, precision: .double),
                partitions: places.indices.map { UInt32($0 % 3) }),
            Data(places: places, options: ClusteringOptions(minimumZoom: 4, maximumZoom: 9)),
            Data(
                places: PointSet.crowd.places(2000), options: ClusteringOptions(),
                weights: Array(weights[..<2000])),
            Data(places: PointSet.uniform.places(2000), options: ClusteringOptions(maximumZoom: 18)),
        ]
    }()

    /// All that can be asked of an index, as text.
    private static func answers(_ index: ClusterIndex, _ places: [Position]) -> String {
        var text = ""
        func add(_ values: Any...) { for value in values { print(value, terminator: " ", to: &text) } }
        let options = index.options
        for zoom in options.minimumZoom...options.maximumZoom + 1 {
            let level = Zoom(rawValue: zoom)
            let nodes = index.all(at: zoom)
            add(zoom, nodes.count)
            for node in nodes.prefix(12) + nodes.suffix(12) {
                add(index.origin(of: node).rawValue, index.parent(of: node) as Any)
                guard case .cluster(let cluster) = node else { continue }
                let summary = index.summary(of: cluster)
                add(
                    index.id(of: cluster), summary.pointCount, summary.x, summary.y,
                    index.zoom(of: cluster).rawValue)
                add(index.cluster(id: index.id(of: cluster)) as Any, index.coordinates(of: cluster))
                add(index.weight(of: cluster) as Any, index.partition(of: cluster) as Any)
                let (leaves, children) = (index.leaves(of: cluster), index.children(of: cluster))
                for leaf in leaves.prefix(8) + leaves.suffix(4) { add(leaf.rawValue) }
                for child in children.prefix(8) + children.suffix(4) { add(child) }
            }
            var tiles: [ClusterIndex.TileNode] = []
            index.tileNodes(z: min(zoom, 3), x: 4, y: 2, into: &tiles)
            add(tiles.count)
            var cells: [TileCell] = []
            index.occupiedTiles(in: TileBlock(zoom: 0, cell: TileCell(x: 0, y: 0)), at: zoom, into: &cells)
            add(cells.count)
            for point in stride(from: 0, to: places.count, by: 197) {
                let point = PointIndex(rawValue: UInt32(point))
                add(index.node(showing: point, at: level), index.cluster(from: point, at: level) as Any)
            }
        }
        let all = index.all(at: options.minimumZoom)
        for case .cluster(let cluster) in all.prefix(5) {
            add(index.hullCandidates(of: cluster)?.count as Any)
        }
        add(index.overview(mostNodes: 500, mostPoints: 200)?.points.count as Any)
        return text
    }

    private static func updated(_ index: ClusterIndex, _ data: Data, seed: UInt64) -> ClusterIndex? {
        var random = SeededGenerator(state: seed)
        var changes = PointChanges()
        for number in 0..<30 {
            let point = UInt32(number * 61 + Int(random.next() % 50))
            let near = data.places[Int(random.next() % UInt64(data.places.count))]
            let placement = { (point: UInt32) in
                PointChanges.Placement(
                    point: PointIndex(rawValue: point), longitude: near.longitude + 0.0001,
                    latitude: near.latitude,
                    weight: 2, partition: 1)
            }
            switch number % 3 {
            case 0: changes.removed.append(PointIndex(rawValue: point))
            case 1: changes.moved.append(placement(point))
            default: changes.added.append(placement(UInt32(index.pointLimit + changes.added.count)))
            }
        }
        let places = data.places
        return index.updated(changes, threads: 2) { point in
            // A point of the index before, or one that a lost index names.
            let place = places[min(Int(point.rawValue), places.count - 1)]
            return (place.longitude, place.latitude)
        }?.index
    }

    @Test("answer as those in memory, with updates and subsets", arguments: data.indices)
    func sameAnswers(_ number: Int) throws {
        let data = Self.data[number]
        let built = try data.build()
        let mapped = try Mapped(built)
        #expect(mapped.index.isMapped && !mapped.index.isLost && !built.isMapped)
        #expect(mapped.index.memoryBytes + mapped.size == built.memoryBytes)
        #expect(mapped.index.lineage == built.lineage)
        #expect(Self.answers(mapped.index, data.places) == Self.answers(built, data.places))
        var (one, other) = (built, mapped.index)
        for seed in 0..<2 as Range<UInt64> {
            one = try #require(Self.updated(one, data, seed: seed))
            other = try #require(Self.updated(other, data, seed: seed))
            #expect(other.isMapped)
            #expect(Self.answers(one, data.places) == Self.answers(other, data.places))
        }
        let some = (0..<UInt32(data.places.count)).filter { $0 % 3 != 0 }
        let weights = data.weights.map { all in some.map { all[Int($0)] } }
        let partitions = data.partitions.map { all in some.map { all[Int($0)] } }
        let (subset, mappedSubset) = (
            try built.subset(some, weights: weights, partitions: partitions),
            try mapped.index.subset(some, weights: weights, partitions: partitions)
        )
        #expect(Self.answers(subset, data.places) == Self.answers(mappedSubset, data.places))
        #expect(!mappedSubset.isMapped)
    }

    @Test(
        "that lose any of their pages end every query and update, and read nothing else",
        arguments: data.indices)
    func lostPages(_ number: Int) throws {
        let data = Self.data[number]
        let built = try data.build()
        var random = SeededGenerator(state: UInt64(number))
        for round in 0..<8 {
            let mapped = try Mapped(built)
            let live = try #require(Self.updated(mapped.index, data, seed: 1))
            // A few pages, many or all.
            let page = 1 << (6 + round % 4 * 2)
            let share = [3, 20, 60, 100][round / 2]
            for start in stride(from: 0, to: mapped.size, by: page) where random.next() % 100 < UInt64(share)
            {
                try mapped.lose(start..<min(start + page, mapped.size))
            }
            for index in [mapped.index, live] {
                let answers = Self.answers(index, data.places)
                if share == 100 { #expect(answers != Self.answers(built, data.places)) }
                guard let updated = Self.updated(index, data, seed: UInt64(round)) else { continue }
                _ = Self.answers(updated, data.places)
            }
            _ = try mapped.index.subset(Array(0..<1000))
        }
    }

    @Test("that lose their pages while they are read end every query and update", arguments: data.indices)
    func lostMeanwhile(_ number: Int) throws {
        let data = Self.data[number]
        let built = try data.build()
        for round in 0..<6 {
            // Only the thread of one place uses the file.
            nonisolated(unsafe) let mapped = try Mapped(built)
            let live = try #require(Self.updated(mapped.index, data, seed: 1))
            Parallel(.shared, threads: 4).forEach(below: 4) { place in
                switch place {
                case 0: _ = Self.answers(live, data.places)
                case 1: _ = Self.updated(mapped.index, data, seed: 2)
                case 2: _ = Self.answers(mapped.index, data.places)
                default:
                    for _ in 0..<round * 100 { sched_yield() }
                    try? mapped.file.truncate(to: round % 2 == 0 ? 0 : 8192)
                }
            }
            _ = Self.answers(mapped.index, data.places)
            #expect(mapped.index.isLost && live.isLost)
        }
    }

    @Test("are not made of indexes without clusters or with small columns")
    func notMapped() throws {
        let built = try ClusterIndex.build(PointSet.gathered.places(500), ClusteringOptions())
        #expect(try built.mapped { _ in throw FileError.unusable("nothing to map") } == nil)
        let apart = try ClusterIndex.build([Position(longitude: 1, latitude: 2)], ClusteringOptions())
        #expect(try apart.mapped(columnsFrom: 1) { _ in throw FileError.unusable("no clusters") } == nil)
    }
}
