// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("A plane in its own units") struct PlaneTests {
    /// Holds all point sets of the other tests; its sides are no powers of two.
    static let plane = Projection.planar(box(-181, -91, 190, 93))

    private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> PlanarBox {
        guard let box = PlanarBox(minimumX: west, minimumY: south, maximumX: east, maximumY: north) else {
            preconditionFailure("not a box")
        }
        return box
    }

    @Test("positions and coordinates are each other's inverse", arguments: [0.0, 12.5, 640, 999.999])
    func inverse(_ value: Double) {
        let projection = Projection.planar(Self.box(-10, 0, 1000, 700))
        let (x, y) = (projection.x(longitude: value), projection.y(latitude: value * 0.7))
        #expect(abs(projection.longitude(x: x) - value) < 1e-9)
        #expect(abs(projection.latitude(y: y) - value * 0.7) < 1e-9)
    }

    @Test("the longer side spans the unit square, and the largest y is its top") func corners() {
        let projection = Projection.planar(Self.box(100, 200, 500, 300))
        #expect(projection.x(longitude: 100) == 0)
        #expect(projection.x(longitude: 500) == 1)
        #expect(projection.y(latitude: 300) == 0)
        #expect(projection.y(latitude: 200) == 0.25)
        #expect(!projection.isRound)
        #expect(Projection.mercator.isRound)
    }

    @Test("a box without area is rejected") func badBoxes() {
        #expect(PlanarBox(minimumX: 0, minimumY: 0, maximumX: 0, maximumY: 1) == nil)
        #expect(PlanarBox(minimumX: 0, minimumY: 2, maximumX: 1, maximumY: 1) == nil)
        #expect(PlanarBox(minimumX: -1e308, minimumY: 0, maximumX: 1e308, maximumY: 1) == nil)
        #expect(PlanarBox(minimumX: 0, minimumY: .nan, maximumX: 1, maximumY: 1) == nil)
    }

    @Test("a point on the edge of a box is in it", arguments: [ClusteringOptions.Precision.float, .fixed, .double])
    func edges(_ precision: ClusteringOptions.Precision) throws {
        let box = Self.box(0, 0, 999, 333)
        var options = ClusteringOptions(radius: 0, precision: precision)
        options.projection = .planar(box)
        let places = (0...99).map { Position(longitude: Double($0) * 7.7, latitude: Double($0) * 3.3) }
        let index = try ClusterIndex.build(places, options)
        var nodes: [Node] = []
        for (point, place) in places.enumerated() {
            _ = index.nodes(
                west: place.longitude, south: place.latitude, east: place.longitude, north: place.latitude,
                at: Zoom(rawValue: 17), into: &nodes)
            #expect(nodes == [.point(PointIndex(rawValue: UInt32(point)))])
        }
        _ = index.nodes(west: 0, south: 0, east: 999, north: 333, at: Zoom(rawValue: 0), into: &nodes)
        #expect(nodes.count == 100)
    }

    @Test("there is no antimeridian: a box beyond the east edge contains nothing from the west")
    func noAntimeridian() throws {
        var options = ClusteringOptions(radius: 10)
        options.projection = .planar(Self.box(-180, -90, 180, 90))
        let index = try ClusterIndex.build(
            [Position(longitude: -179, latitude: 0), Position(longitude: 179, latitude: 0)], options)
        var nodes: [Node] = []
        let level = Zoom(rawValue: 17)
        _ = index.nodes(west: 170, south: -10, east: 190, north: 10, at: level, into: &nodes)
        #expect(nodes == [.point(PointIndex(rawValue: 1))])
        _ = index.nodes(west: 170, south: -10, east: -170, north: 10, at: level, into: &nodes)
        #expect(nodes.isEmpty)
        var tile: [ClusterIndex.TileNode] = []
        index.tileNodes(z: 1, x: 1, y: 0, into: &tile)
        #expect(tile.map(\.node) == [.point(PointIndex(rawValue: 1))])
    }
}
