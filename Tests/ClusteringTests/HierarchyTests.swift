// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Clusters, children and leaves") struct HierarchyTests {
    static let sets: [PointSet] = [.uniform, .gathered, .duplicates, .onePlace, .grid, .edges]

    @Test("every cluster is found by its id, and no other id is a cluster's", arguments: sets)
    func ids(_ set: PointSet) throws {
        let index = try ClusterIndex.build(set.places(1500), ClusteringOptions())
        var ids = Set<Int64>()
        for ordinal in 0..<UInt32(index.clusterCount) {
            let cluster = ClusterOrdinal(rawValue: ordinal)
            let id = index.id(of: cluster)
            #expect(ids.insert(id).inserted)
            #expect(index.cluster(id: id) == cluster)
        }
        for id in [Int64.min, -1, 0, 1499, 1500, .max] + ids.prefix(50).map({ $0 + 1_000_000_000 }) {
            #expect(index.cluster(id: id) == nil)
        }
        let near = ids.flatMap { [$0 - 32, $0 - 1, $0 + 1, $0 + 32] }.filter { !ids.contains($0) }
        #expect(near.allSatisfy { index.cluster(id: $0) == nil })
    }

    @Test("children are the cluster's nodes at the next zoom, and contain its points", arguments: sets)
    func children(_ set: PointSet) throws {
        let index = try ClusterIndex.build(set.places(1500), ClusteringOptions())
        for ordinal in 0..<UInt32(index.clusterCount) {
            let cluster = ClusterOrdinal(rawValue: ordinal)
            let children = index.children(of: cluster)
            #expect(children.count >= 2)
            let deeper = index.expansionZoom(of: cluster)
            var points: [PointIndex] = []
            for child in children {
                #expect(index.parent(of: child) == cluster)
                switch child {
                case .point(let point): points.append(point)
                case .cluster(let inner):
                    #expect(inner < cluster)
                    #expect(index.zoom(of: inner) >= deeper)
                    points += index.leaves(of: inner)
                }
            }
            #expect(points == Array(index.leaves(of: cluster)))
            #expect(points.count == index.pointCount(of: cluster))
            #expect(Set(points).count == points.count)
        }
    }

    @Test("every point is shown exactly once at every zoom", arguments: sets) func cover(_ set: PointSet) throws {
        let places = set.places(800)
        let index = try ClusterIndex.build(places, ClusteringOptions(minimumPoints: 3))
        for zoom in 0...17 {
            let seen = index.all(at: zoom)
            var shown: [PointIndex: Node] = [:]
            for node in seen {
                let points: [PointIndex] =
                    switch node {
                    case .point(let point): [point]
                    case .cluster(let cluster): Array(index.leaves(of: cluster))
                    }
                for point in points { #expect(shown.updateValue(node, forKey: point) == nil) }
            }
            #expect(shown.count == places.count)
            for (point, node) in shown {
                #expect(index.node(showing: point, at: Zoom(rawValue: zoom)) == node)
            }
        }
    }

    @Test("coincident points have children, even beyond the precision of floats") func deepDuplicates() throws {
        let index = try ClusterIndex.build(PointSet.onePlace.places(300), ClusteringOptions(maximumZoom: 24))
        guard case .cluster(let cluster) = try #require(index.all(at: 0).first) else {
            Issue.record("one cluster was expected")
            return
        }
        #expect(index.children(of: cluster).count == 300)
        #expect(index.expansionZoom(of: cluster).rawValue == 25)
    }

    @Test("no points and one point") func fewPoints() throws {
        let empty = try ClusterIndex.build([], ClusteringOptions())
        #expect(empty.all(at: 3).isEmpty)
        #expect(empty.clusterCount == 0)
        #expect(empty.cluster(id: 1) == nil)
        let one = try ClusterIndex.build([Position(longitude: 1, latitude: 2)], ClusteringOptions())
        for zoom in 0...17 { #expect(one.seen(at: zoom) == ["p0"]) }
    }

    @Test(
        "options out of range are rejected",
        arguments: [
            ClusteringOptions(radius: -1), ClusteringOptions(radius: .nan), ClusteringOptions(extent: 0),
            ClusteringOptions(minimumZoom: 5, maximumZoom: 4), ClusteringOptions(maximumZoom: 25),
            ClusteringOptions(minimumZoom: -1),
        ])
    func badOptions(_ options: ClusteringOptions) {
        #expect(throws: ClusteringError.self) { _ = try ClusterIndex.build([], options) }
    }

    @Test("a level is the zoom rounded down, within the index's zooms") func levels() throws {
        let index = try ClusterIndex.build([], ClusteringOptions(minimumZoom: 2, maximumZoom: 9))
        for (zoom, level) in [
            (-.infinity, 2), (-3, 2), (2.9, 2), (3, 3), (9.99, 9), (10, 10), (10.5, 10), (1e300, 10),
            (.nan, 2),
        ] as [(Double, Int)] {
            #expect(index.level(for: zoom).rawValue == level)
        }
    }
}
