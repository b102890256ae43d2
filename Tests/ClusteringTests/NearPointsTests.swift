// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@testable import Clustering

@Suite("Points that are alone skip the deepest zooms") struct NearPointsTests {
    private typealias Found<Scalar: Coordinate> = (near: NearPoints<Scalar>, points: PointColumns<Scalar>)

    private static func find<Scalar: Coordinate>(
        _ places: [Position], _ options: ClusteringOptions, partitions: [UInt32]? = nil, threads: Int = 1
    ) throws -> Found<Scalar>? {
        let points = try PointColumns<Scalar>(places, options)
        let parallel = Parallel(.awake, threads: threads, smallestShare: 100)
        let parts = partitions.map { partitions in
            let column = Scratch<UInt32>(capacity: partitions.count)
            for (index, partition) in partitions.enumerated() { column.base[index] = partition }
            return column
        }
        let list = LevelList<Scalar>.deepest(of: points, options, partitions: parts.map { .init($0.base) }, parallel)
        // No node is a cluster, so no centre is read.
        let none = Scratch<Double>(capacity: 1)
        let centers = Centers<Scalar>(pointCount: .max, x: .init(none.base), y: .init(none.base))
        let near = NearPoints(
            of: list, centers: centers, options: options, by: NeighbourSweep(capacity: points.count),
            parallel: parallel)
        return withExtendedLifetime((parts, none)) { near.map { ($0, points) } }
    }

    /// Whether each point has another one of its partition within a distance.
    private static func areNear<Scalar: Coordinate>(
        _ points: PointColumns<Scalar>, _ distance: Double, partitions: [UInt32]?
    ) -> [Bool] {
        (0..<points.count).map { point in
            (0..<points.count).contains { other in
                let dx = Double(points.x.base[point]) - Double(points.x.base[other])
                let dy = Double(points.y.base[point]) - Double(points.y.base[other])
                return other != point && partitions?[point] == partitions?[other]
                    && dx * dx + dy * dy <= distance * distance
            }
        }
    }

    /// All that must not be left out are found, and no others.
    private static func expectExact<Scalar: Coordinate>(
        _ found: Found<Scalar>?, _ options: ClusteringOptions, partitions: [UInt32]?, _ comment: Comment
    ) throws {
        let (near, points) = try #require(found, comment)
        #expect(near.zooms.upperBound == options.maximumZoom, comment)
        let least = near.zooms.reduce(0) { $0 + options.unitRadius(at: $1) }
        let most = least + Double(near.zooms.count + 1) * (8 * 0x1p-24 + 4 * options.centerSlack)
        let (must, may) = (
            areNear(points, least, partitions: partitions), areNear(points, most * (1 + 1e-9), partitions: partitions)
        )
        var listed = [Bool](repeating: false, count: points.count)
        for position in 0..<near.list.count { listed[Int(near.list.entries[position].node)] = true }
        for point in listed.indices {
            #expect(!must[point] || listed[point], "\(comment): point \(point) is left out")
            #expect(!listed[point] || may[point], "\(comment): point \(point) is alone")
        }
    }

    @Test("all that have another one near are found, and only these", arguments: [PointSet.uniform, .pairs])
    func exact(_ set: PointSet) throws {
        let places = set.places(2000, seed: 11)
        let partitions = places.indices.map { UInt32($0 / 3 % 2) }
        for (options, name) in [
            (ClusteringOptions(), "defaults"), (ClusteringOptions(radius: 90, minimumZoom: 3, maximumZoom: 12), "wide"),
            (ClusteringOptions(radius: 10, maximumZoom: 24), "deep"),
        ] {
            for partitions in [nil, partitions] {
                for threads in [1, 4] {
                    let comment: Comment = "\(name), \(partitions == nil ? 1 : 2) partitions, \(threads) threads"
                    let found: Found<Float>? = try Self.find(places, options, partitions: partitions, threads: threads)
                    try Self.expectExact(found, options, partitions: partitions, comment)
                }
            }
        }
        for precision in [ClusteringOptions.Precision.fixed, .double] {
            let options = ClusteringOptions(maximumZoom: 20, precision: precision)
            try Self.expectExact(
                try Self.find(places, options) as Found<Double>?, options, partitions: nil, "\(precision)")
        }
    }

    @Test(
        "no zoom is clustered apart where many points have others near",
        arguments: [PointSet.duplicates, .onePlace, .crowd, .edges])
    func dense(_ set: PointSet) throws {
        let found: Found<Float>? = try Self.find(set.places(20_000), ClusteringOptions())
        #expect(found == nil)
    }

    @Test("the index is that of the definition, on any number of threads", arguments: [1, 7, 40, 400])
    func agreesWithTheReference(_ share: Int) throws {
        for (seed, count) in [(1, 3), (2, 40), (3, 700), (4, 3000)] {
            var random = SeededGenerator(state: UInt64(seed))
            let places = PointSet.pairs.places(count, seed: UInt64(seed))
            var options = ClusteringOptions(
                radius: [20, 40, 80].randomElement(using: &random) ?? 40,
                minimumZoom: .random(in: 0...10, using: &random),
                maximumZoom: .random(in: 12...24, using: &random), precision: [.float, .fixed, .double][share % 3])
            // Radii that do not halve from zoom to zoom.
            if seed % 2 == 0 { for zoom in options.radii.indices { options.radii[zoom] *= zoom % 2 == 0 ? 1 : 1.7 } }
            let weights = places.map { _ in Double.random(in: 0.1...9, using: &random) }
            let partitions = places.map { _ in UInt32.random(in: 0..<2, using: &random) }
            for (weights, partitions) in [(nil, nil), (weights, nil), (weights, partitions)] {
                let reference = ReferenceClustering(places, options, weights: weights, partitions: partitions)
                let one = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
                for zoom in options.minimumZoom...options.maximumZoom + 1 {
                    #expect(one.seen(at: zoom) == reference.seen(at: zoom), "\(count) points, \(options), zoom \(zoom)")
                }
                for threads in [2, 4] {
                    let many = try ClusterIndex.build(
                        places, options, weights: weights, partitions: partitions, threads: threads,
                        smallestShare: share)
                    #expect(many.sections(otherThan: one).isEmpty, "\(count) points, \(options), \(threads) threads")
                }
            }
        }
    }
}
