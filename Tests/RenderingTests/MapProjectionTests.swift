// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Testing

@testable import Rendering

@Suite("Map projection") struct MapProjectionTests {
    private let plane = MapProjection.planar(BoundingBox(west: 100, south: -50, east: 300, north: 50))

    @Test("options have a planar projection or none") func optionsNameAPlaneOrNone() {
        #expect(MapProjection(options: ["projection": ["planar": [100, -50, 300, 50]]]) == plane)
        #expect(MapProjection(options: ["projection": "mercator"]) == .mercator)
        #expect(MapProjection(options: ["projection": ["planar": [1, 2, 1]]]) == .mercator)
        #expect(MapProjection(options: [:]) == .mercator)
    }

    @Test("a plane's longer side is 1") func aPlanesLongerSideIsOne() {
        #expect(plane.extent.x == 1)
        #expect(plane.extent.y == 0.5)
        #expect(plane.x(100) == 0)
        #expect(plane.x(300) == 1)
        #expect(plane.y(50) == 0)
        #expect(plane.y(-50) == 0.5)
        #expect(plane.longitude(0.25) == 150)
        #expect(plane.latitude(0.25) == 0)
    }

    @Test("a frame shows the plane once and requests no more") func aFrameShowsThePlaneOnceAndAsksForNoMore() {
        let frame = PictureFrame(showing: plane.standardBox, width: 800, height: 600, projection: plane)
        #expect(frame.box == plane.standardBox)
        #expect(frame.worldArea == PixelBox(left: 0, top: 100, width: 800, height: 400))
        #expect(frame.pixel(longitude: 100, latitude: 50) == PixelPoint(x: 0, y: 100))
        #expect(frame.pixel(longitude: 300, latitude: -50) == PixelPoint(x: 800, y: 500))
        let part = PictureFrame(
            showing: BoundingBox(west: 120, south: 0, east: 140, north: 10), width: 400, height: 200, projection: plane)
        #expect(part.pixels([(100, 50), (300, 50)])[1].x - part.pixels([(100, 50), (300, 50)])[0].x == 4000)
        #expect(part.worldArea == part.area)
    }

    @Test("lines are at round numbers of the plane's units") func drawsLinesAtRoundUnits() {
        let frame = PictureFrame(showing: plane.standardBox, width: 800, height: 600, projection: plane)
        let graticule = Graticule(frame)
        #expect(graticule.meridians.map(\.label) == ["100", "150", "200", "250", "300"])
        #expect(graticule.parallels.map(\.label) == ["-50", "0", "50"])
        #expect(graticule.meridians[1].position == 200)
        #expect(graticule.parallels[1].position == 300)
    }

    @Test("a camera stays on the plane") func aCameraStaysOnThePlane() {
        var camera = MapCamera(columns: 80, rows: 24, projection: plane)
        camera.look(at: plane.standardBox)
        for _ in 0..<20 { camera.pan(right: 1, down: 1) }
        #expect(camera.centreX == 1)
        #expect(camera.centreY == 0.5)
        #expect(camera.frame.box.east == 300)
        #expect(camera.frame.box.south == -50)
    }
}
