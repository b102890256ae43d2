// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Clustering an index's points again after changes") struct RebuildTests {
    @Test(
        "it is the index built of the points after the changes", arguments: PointSet.allCases,
        [ClusteringOptions.Precision.float, .fixed, .double])
    func sets(_ set: PointSet, _ precision: ClusteringOptions.Precision) throws {
        var random = SeededGenerator(state: 6)
        var places = set.places(2000)
        var index = try ClusterIndex.build(places, ClusteringOptions(maximumZoom: 9, precision: precision))
        for round in 0..<4 {
            let former = places
            // A few changes are followed first, so that the index has a delta.
            for changed in [7, 300] {
                let changes = change(changed, &places, &random)
                #expect(index.canBeRebuilt(with: changes))
                guard changed == 300 else {
                    index = try #require(
                        index.updated(changes) { point in
                            let place = former[Int(point.rawValue)]
                            return (place.longitude, place.latitude)
                        }
                    ).index
                    continue
                }
                let weights = round == 1 ? places.indices.map { Double($0 % 7) + 0.5 } : nil
                let partitions = round == 2 ? places.indices.map { UInt32($0 % 3) } : nil
                let rebuilt = try index.rebuilt(
                    with: changes, weights: weights, partitions: partitions, threads: 2)
                let built = try ClusterIndex.build(
                    places, index.options, weights: weights, partitions: partitions)
                expectEqual(rebuilt, built, "\(set), \(precision), round \(round)")
                index = try index.rebuilt(with: changes)
            }
        }
    }

    @Test("points that were removed prevent it, and so does a cancellation") func refusals() throws {
        let places = PointSet.gathered.places(500)
        let index = try ClusterIndex.build(places, ClusteringOptions())
        var changes = PointChanges()
        #expect(index.canBeRebuilt(with: changes))
        #expect(throws: ClusteringError.cancelled) { try index.rebuilt(with: changes) { true } }
        #expect(throws: ClusteringError.self) { try index.rebuilt(with: changes, weights: [1]) }
        changes.removed = [PointIndex(rawValue: 3)]
        #expect(!index.canBeRebuilt(with: changes))
        let updated = try #require(
            index.updated(changes) { (places[Int($0.rawValue)].longitude, places[Int($0.rawValue)].latitude) })
        #expect(!updated.index.canBeRebuilt(with: PointChanges()))
    }

    /// Moves points, and adds a few.
    private func change(
        _ count: Int, _ places: inout [Position], _ random: inout SeededGenerator
    ) -> PointChanges {
        var changes = PointChanges()
        for point in places.indices.shuffled(using: &random).prefix(count) {
            places[point] = Position(
                longitude: Double.random(in: -180...180, using: &random),
                latitude: Double.random(in: -85...85, using: &random))
            changes.moved.append(placement(point, places[point]))
        }
        for _ in 0..<count / 5 {
            let place = places[Int.random(in: places.indices, using: &random)]
            changes.added.append(placement(places.count, place))
            places.append(place)
        }
        return changes
    }

    private func placement(_ point: Int, _ place: Position) -> PointChanges.Placement {
        PointChanges.Placement(
            point: PointIndex(rawValue: UInt32(point)), longitude: place.longitude, latitude: place.latitude)
    }

    private func expectEqual(_ rebuilt: ClusterIndex, _ built: ClusterIndex, _ comment: String) {
        #expect(rebuilt.pointCount == built.pointCount, "\(comment)")
        #expect(rebuilt.clusterCount == built.clusterCount, "\(comment)")
        for zoom in built.options.minimumZoom...built.options.maximumZoom + 1 {
            let (found, expected) = (rebuilt.all(at: zoom), built.all(at: zoom))
            #expect(found == expected, "\(comment), zoom \(zoom)")
            for case .cluster(let cluster) in found {
                #expect(rebuilt.id(of: cluster) == built.id(of: cluster), "\(comment), zoom \(zoom)")
                #expect(
                    rebuilt.unitPosition(of: cluster) == built.unitPosition(of: cluster), "\(comment), zoom \(zoom)")
                #expect(
                    Array(rebuilt.leaves(of: cluster)) == Array(built.leaves(of: cluster)), "\(comment), zoom \(zoom)")
                #expect(rebuilt.weight(of: cluster) == built.weight(of: cluster), "\(comment), zoom \(zoom)")
                #expect(rebuilt.partition(of: cluster) == built.partition(of: cluster), "\(comment), zoom \(zoom)")
            }
        }
    }
}
