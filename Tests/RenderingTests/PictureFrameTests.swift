// SPDX-License-Identifier: MIT
import ClusterClient
import Testing

@testable import Rendering

@Suite("Picture frame") struct PictureFrameTests {
    @Test(
        "a frame shows the whole box",
        arguments: [
            BoundingBox(west: -10, south: 35, east: 30, north: 60),
            BoundingBox(west: 170, south: -50, east: -160, north: -10),
            BoundingBox(west: -180, south: -75, east: 180, north: 82),
        ])
    func aFrameShowsTheWholeBox(box: BoundingBox) {
        let frame = PictureFrame(showing: box, width: 800, height: 600)
        let middle = box.west < box.east ? (box.west + box.east) / 2 : -175
        for latitude in [box.south, box.north] {
            let pixel = frame.pixel(longitude: middle, latitude: latitude)
            #expect(abs(pixel.x - 400) < 1e-6)
            #expect(pixel.y >= -1e-6)
            #expect(pixel.y <= 600 + 1e-6)
        }
        let width = (box.east - box.west + (box.west > box.east ? 360 : 0)) / 360 * frame.worldSide
        #expect(width <= 800 + 1e-6)
    }

    @Test("a frame's box crosses the antimeridian") func aFramesBoxCrossesTheAntimeridian() {
        let box = BoundingBox(west: 170, south: -50, east: -160, north: -10)
        let seen = PictureFrame(showing: box, width: 300, height: 900).box
        #expect(abs(seen.west - 170) < 1e-9)
        #expect(abs(seen.east + 160) < 1e-9)
    }

    @Test("a single position has a frame")
    func aPlaceIsAFrame() {
        let frame = PictureFrame(
            showing: BoundingBox(west: 5, south: 50, east: 5, north: 50), width: 64, height: 64)
        #expect(frame.worldSide.isFinite)
        #expect(abs(frame.pixel(longitude: 5, latitude: 50).x - 32) < 1e-6)
    }

    @Test("a line across the antimeridian stays whole") func aLineAcrossTheAntimeridianStaysWhole() {
        let frame = PictureFrame(
            showing: BoundingBox(west: 170, south: -10, east: -170, north: 10), width: 200, height: 200)
        let pixels = frame.pixels([(179, 0), (-179, 0)])
        #expect(abs(pixels[1].x - pixels[0].x - frame.worldSide / 180) < 1e-6)
    }
}
