// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Overviews")
struct OverviewTests {
    /// An overview's sections, copied into aligned memory of their own.
    private final class Copy {
        var sections: [IndexSection: UnsafeMutableRawBufferPointer] = [:]
        let points: [PointIndex]

        init(_ overview: IndexOverview) {
            points = overview.points
            overview.forEachSection { section, bytes in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
                copy.copyMemory(from: bytes)
                sections[section] = copy
            }
        }

        deinit { for bytes in sections.values { bytes.deallocate() } }

        func open(_ index: ClusterIndex) throws -> (index: ClusterIndex, deepest: Zoom) {
            try ClusterIndex.onOverview(
                options: index.options, pointCount: index.pointCount, shownPoints: points.count, owner: self,
                sections: sections.mapValues { UnsafeRawBufferPointer($0) })
        }
    }

    /// What an answer says about a node.
    private enum Shown: Equatable {
        case point(UInt32)
        case cluster(Int64, Int, Double, Double, Int)
    }

    private func shown(_ node: Node, _ index: ClusterIndex, _ points: [PointIndex]? = nil) -> Shown {
        switch node {
        case .point(let point): return .point(points?[Int(point.rawValue)].rawValue ?? point.rawValue)
        case .cluster(let cluster):
            let summary = index.summary(of: cluster)
            return .cluster(
                summary.id, summary.pointCount, summary.x, summary.y,
                index.expansionZoom(of: cluster).rawValue)
        }
    }

    @Test(
        "they answer the lowest levels as the index does",
        arguments: SnapshotTests.optionSets, [PointSet.gathered, .uniform, .duplicates, .edges])
    func sameAnswers(_ options: ClusteringOptions, _ set: PointSet) throws {
        let index = try ClusterIndex.build(set.places(3000), options)
        for most in [100, 900, 100_000] {
            guard let overview = index.overview(mostNodes: most, mostPoints: most) else {
                #expect(index.all(at: options.minimumZoom).count > most)
                continue
            }
            let copy = Copy(overview)
            let (found, deepest) = try copy.open(index)
            #expect(found.pointCount == index.pointCount)
            #expect(most < 100_000 || deepest.rawValue == options.maximumZoom + 1)
            for zoom in options.minimumZoom...deepest.rawValue {
                for (west, east, north) in [(-180.0, 180.0, 85.0), (-20, 60, 40), (170, -100, 70)]
                where options.projection.isRound || west < east {
                    for limit in [Int.max, 7] {
                        var (expected, actual): ([Node], [Node]) = ([], [])
                        let more = index.nodes(
                            west: west, south: -85, east: east, north: north, at: Zoom(rawValue: zoom),
                            limit: limit, into: &expected)
                        let same = found.nodes(
                            west: west, south: -85, east: east, north: north, at: Zoom(rawValue: zoom),
                            limit: limit, into: &actual)
                        #expect(more == same)
                        #expect(
                            actual.map { shown($0, found, copy.points) } == expected.map { shown($0, index) })
                    }
                }
                var (expected, actual): ([ClusterIndex.TileNode], [ClusterIndex.TileNode]) = ([], [])
                index.tileNodes(z: zoom, x: 0, y: 0, into: &expected)
                found.tileNodes(z: zoom, x: 0, y: 0, into: &actual)
                #expect(
                    actual.map { shown($0.node, found, copy.points) }
                        == expected.map { shown($0.node, index) })
                #expect(actual.map(\.column) == expected.map(\.column))
            }
        }
    }

    @Test("they respect the limits of nodes and points")
    func limits() throws {
        let places = PointSet.gathered.places(3000)
        let index = try ClusterIndex.build(places, ClusteringOptions())
        let few = try #require(index.overview(mostNodes: 3000, mostPoints: 10))
        #expect(few.points.count <= 10)
        let deepest = try Copy(few).open(index).deepest
        let points = (0...deepest.rawValue + 1).flatMap { index.all(at: $0) }.filter {
            if case .point = $0 { true } else { false }
        }
        #expect(Set(points).count > 10)
        #expect(index.overview(mostNodes: 0, mostPoints: 10) == nil)
    }

    @Test(
        "after updates they have the same nodes in the same order as the updated index", arguments: [1, 2, 3])
    func updated(_ seed: UInt64) throws {
        let places = PointSet.gathered.places(2000)
        var index = try ClusterIndex.build(
            places, ClusteringOptions(), weights: places.indices.map { Double($0 % 7 + 1) },
            partitions: places.indices.map { UInt32($0 % 2) })
        var random = SeededGenerator(state: seed)
        for round in 0..<20 {
            var changes = PointChanges()
            // Points of any rank are removed and moved: also those that low zooms show, and those that clusters grew from.
            changes.removed = [PointIndex(rawValue: UInt32(round * 50))]
            func position() -> (longitude: Double, latitude: Double) {
                (Double(random.next() % 3600) / 10 - 180, Double(random.next() % 1700) / 10 - 85)
            }
            let other = round * 50 + 2 + Int(random.next() % 40)
            for point in [round * 50 + 1, other] {
                let (longitude, latitude) = position()
                changes.moved.append(
                    .init(
                        point: PointIndex(rawValue: UInt32(point)), longitude: longitude, latitude: latitude,
                        weight: 3, partition: 1))
            }
            let (longitude, latitude) = position()
            let added = PointIndex(rawValue: UInt32(index.pointLimit))
            changes.added = [
                .init(point: added, longitude: longitude, latitude: latitude, weight: 5, partition: 0)
            ]
            index = try #require(
                index.updated(changes) {
                    (places[Int($0.rawValue)].longitude, places[Int($0.rawValue)].latitude)
                }
            ).index
            for most in [300, 100_000] {
                let overview = try #require(index.overview(mostNodes: most, mostPoints: most))
                let copy = Copy(overview)
                let (found, deepest) = try copy.open(index)
                #expect(found.pointCount == index.pointCount)
                for zoom in 0...deepest.rawValue {
                    let actual = found.all(at: zoom).map { updatedNode($0, found, overview) }
                    #expect(actual == index.all(at: zoom).map { updatedNode($0, index, nil) })
                }
            }
        }
    }

    /// What an answer of an updated index says about a node, except its id.
    private struct UpdatedNode: Equatable {
        var node: Node
        var numbers: [Double] = []
    }

    private func updatedNode(_ node: Node, _ index: ClusterIndex, _ overview: IndexOverview?) -> UpdatedNode {
        switch node {
        case .point(let point):
            return UpdatedNode(node: .point(overview?.points[Int(point.rawValue)] ?? point))
        case .cluster(let cluster):
            let (x, y) = index.unitPosition(of: cluster)
            return UpdatedNode(
                node: .cluster(overview?.clusters[Int(cluster.rawValue)] ?? cluster),
                numbers: [
                    x, y, Double(index.pointCount(of: cluster)), Double(index.zoom(of: cluster).rawValue),
                    index.weight(of: cluster) ?? -1, Double(index.partition(of: cluster) ?? 99),
                ])
        }
    }

    @Test(
        "a section of the wrong size, or with nodes out of range, is rejected",
        arguments: [IndexSection.spatialSlots, .alive, .clusterX, .clusterCounts, .clusterZooms])
    func damage(_ section: IndexSection) throws {
        let index = try ClusterIndex.build(PointSet.gathered.places(300), ClusteringOptions())
        let overview = try #require(index.overview(mostNodes: 90, mostPoints: 90))
        let cut = Copy(overview)
        let bytes = try #require(cut.sections[section])
        cut.sections[section] = UnsafeMutableRawBufferPointer(rebasing: bytes.dropLast())
        #expect(throws: IndexSectionError.self) { try cut.open(index) }
        cut.sections[section] = bytes
        guard section == .spatialSlots || section == .alive else { return }
        for place in bytes.indices { bytes[place] = 0xff }
        #expect(throws: IndexSectionError.self) { try cut.open(index) }
    }
}
