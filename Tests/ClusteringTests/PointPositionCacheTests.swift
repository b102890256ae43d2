// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import Clustering

@Suite("Positions of points in an update") struct PointPositionCacheTests {
    @Test(
        "are those that a build compares, of the index itself where it has them",
        arguments: SnapshotTests.optionSets, PointSet.allCases)
    func positions(_ options: ClusteringOptions, _ set: PointSet) throws {
        let places = set.places(1500)
        let index = try ClusterIndex.build(places, options)
        let hasCrowds = set != .gathered && set != .uniform
        switch index.layers.base.spatial {
        case .float(let spatial): check(index, spatial, places, hasCrowds: hasCrowds)
        case .double(let spatial): check(index, spatial, places, hasCrowds: hasCrowds)
        }
    }

    private func check<Scalar: Coordinate>(
        _ index: ClusterIndex, _ spatial: SpatialIndex<Scalar>, _ places: [Position], hasCrowds: Bool
    ) {
        var read = 0
        let coordinates = { (point: PointIndex) in
            read += 1
            let place = places[Int(point.rawValue)]
            return (longitude: place.longitude, latitude: place.latitude)
        }
        let base = index.layers.base
        let cache = PointPositionCache(base, spatial, isOnDisk: { _ in true }, coordinates)
        for point in places.indices {
            let fresh = PointPositionCache(base, spatial, isOnDisk: { _ in true }, coordinates)
            let expected = cache.compared(places[point].longitude, places[point].latitude)
            #expect(cache[UInt32(point)] == expected)
            if point % 10 == 0 { #expect(fresh[UInt32(point)] == expected) }
        }
        // Those of no cluster are read, and those with too many points around them.
        let alone = places.indices.count { base.columns.parents[$0] == NodeNumber.none }
        #expect(hasCrowds || read <= 2 * alone)
    }

    @Test("an update reads the coordinates of hardly any point") func updateReadsFew() throws {
        let places = PointSet.gathered.places(20_000)
        let index = try ClusterIndex.build(places, ClusteringOptions())
        let read = Mutex<Set<PointIndex>>([])
        for point in stride(from: UInt32(0), to: 20_000, by: 1000) {
            let place = places[Int(point)]
            var changes = PointChanges()
            changes.moved = [
                PointChanges.Placement(
                    point: PointIndex(rawValue: point), longitude: place.longitude + 0.001, latitude: place.latitude)
            ]
            let update = index.updated(changes, isOnDisk: { _ in true }) { point in
                read.withLock { _ = $0.insert(point) }
                return (places[Int(point.rawValue)].longitude, places[Int(point.rawValue)].latitude)
            }
            #expect(update != nil)
        }
        #expect(read.withLock { $0.count } <= 5)
    }
}
