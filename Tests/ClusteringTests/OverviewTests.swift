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

    @Test("they have no more nodes or points than they may")
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
        var changes = PointChanges()
        changes.removed = [PointIndex(rawValue: 5)]
        let update = try #require(
            index.updated(changes) { (places[Int($0.rawValue)].longitude, places[Int($0.rawValue)].latitude) }
        )
        #expect(update.index.overview(mostNodes: 3000, mostPoints: 3000) == nil)
    }

    @Test(
        "a section of another size, or one that names nodes that are not there, is refused",
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
