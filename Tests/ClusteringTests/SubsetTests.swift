// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Clustering some of an index's points") struct SubsetTests {
    /// Compares the subset with an index built of the same places.
    private func compare(
        _ index: ClusterIndex, _ places: [Position], _ points: [UInt32], weights: [Double]? = nil,
        partitions: [UInt32]? = nil
    ) throws {
        let subset = try index.subset(points, weights: weights, partitions: partitions, threads: 2)
        let built = try ClusterIndex.build(
            points.map { places[Int($0)] }, index.options, weights: weights, partitions: partitions)
        #expect(subset.pointCount == points.count)
        #expect(subset.clusterCount == built.clusterCount)
        for zoom in index.options.minimumZoom...index.options.maximumZoom + 1 {
            let (found, expected) = (subset.all(at: zoom), built.all(at: zoom))
            #expect(found == expected)
            for case .cluster(let cluster) in found {
                #expect(subset.id(of: cluster) == built.id(of: cluster))
                #expect(subset.unitPosition(of: cluster) == built.unitPosition(of: cluster))
                #expect(Array(subset.leaves(of: cluster)) == Array(built.leaves(of: cluster)))
                #expect(subset.weight(of: cluster) == built.weight(of: cluster))
                #expect(subset.partition(of: cluster) == built.partition(of: cluster))
            }
        }
    }

    private func some(_ count: Int, _ random: inout SeededGenerator) -> [UInt32] {
        (0..<UInt32(count)).filter { _ in Int.random(in: 0..<10, using: &random) < 8 }
    }

    @Test(
        "it is the index built of those points", arguments: PointSet.allCases,
        [ClusteringOptions.Precision.float, .fixed, .double])
    func sets(_ set: PointSet, _ precision: ClusteringOptions.Precision) throws {
        var random = SeededGenerator(state: 4)
        let places = set.places(3000)
        let index = try ClusterIndex.build(places, ClusteringOptions(maximumZoom: 9, precision: precision))
        let points = some(places.count, &random)
        try compare(index, places, points)
        try compare(
            index, places, points, weights: points.map { Double($0 % 7) + 0.5 },
            partitions: points.map { $0 % 3 })
    }

    @Test("enough points for several threads", arguments: [PointSet.gathered, .grid])
    func many(_ set: PointSet) throws {
        var random = SeededGenerator(state: 9)
        let places = set.places(50_000)
        let index = try ClusterIndex.build(places, ClusteringOptions(maximumZoom: 12), threads: 2)
        try compare(index, places, some(places.count, &random))
    }

    @Test("none, one and all points") func extremes() throws {
        let places = PointSet.gathered.places(500)
        let index = try ClusterIndex.build(places, ClusteringOptions())
        try compare(index, places, [])
        try compare(index, places, [499])
        try compare(index, places, Array(0..<500))
        #expect(throws: ClusteringError.self) { try index.subset([1, 2], weights: [1]) }
        #expect(throws: ClusteringError.cancelled) { try index.subset([1, 2]) { true } }
    }

    @Test("points have the positions that updates gave them") func updates() throws {
        var random = SeededGenerator(state: 8)
        var places = PointSet.gathered.places(4000)
        var index = try ClusterIndex.build(places, ClusteringOptions(maximumZoom: 12))
        for _ in 0..<6 {
            var changes = PointChanges()
            let alive = places.indices.filter { index.contains(PointIndex(rawValue: UInt32($0))) }.shuffled(
                using: &random)
            changes.removed = alive[0..<5].map { PointIndex(rawValue: UInt32($0)) }
            for point in alive[5..<12] {
                places[point] = Position(
                    longitude: places[point].longitude * 0.9 + 0.1, latitude: places[point].latitude * 0.9)
                changes.moved.append(placement(point, places[point]))
            }
            places.append(
                Position(longitude: .random(in: -9...9, using: &random), latitude: .random(in: -9...9, using: &random)))
            changes.added = [placement(places.count - 1, places[places.count - 1])]
            let known = places
            index = try #require(
                index.updated(changes) { (known[Int($0.rawValue)].longitude, known[Int($0.rawValue)].latitude) }
            ).index
            try compare(index, places, some(places.count, &random).filter { index.contains(PointIndex(rawValue: $0)) })
        }
    }

    private func placement(_ point: Int, _ place: Position) -> PointChanges.Placement {
        PointChanges.Placement(
            point: PointIndex(rawValue: UInt32(point)), longitude: place.longitude, latitude: place.latitude)
    }
}
