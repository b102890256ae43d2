// SPDX-License-Identifier: MIT
import ClusterClient
import Testing

@testable import Rendering

@Suite("The graticule") struct GraticuleTests {
    private func graticule(_ box: BoundingBox, width: Int = 1000, height: Int = 600) -> Graticule {
        Graticule(PictureFrame(showing: box, width: width, height: height))
    }

    @Test("the world has lines every 60 degrees or nearer, named by hemisphere") func world() {
        let lines = graticule(BoundingBox(west: -180, south: -75, east: 180, north: 82))
        #expect(lines.meridians.map(\.label).contains("60°W"))
        #expect(lines.meridians.map(\.label).contains("0°"))
        #expect(lines.meridians.last?.label == "180°")
        #expect(lines.parallels.map(\.label).contains("60°S"))
    }

    @Test("a street has lines of thousandths of a degree") func street() {
        let lines = graticule(BoundingBox(west: 13.4, south: 52.5, east: 13.404, north: 52.502))
        #expect(lines.meridians.contains { $0.label == "13.402°E" })
        #expect(lines.parallels.contains { $0.label == "52.501°N" })
    }

    @Test("labels go on across the antimeridian") func antimeridian() {
        let lines = graticule(BoundingBox(west: 160, south: -20, east: -160, north: 20))
        let labels = lines.meridians.map(\.label)
        #expect(labels.contains("180°"))
        #expect(labels.contains("170°W"))
        #expect(labels.contains("170°E"))
        #expect(lines.meridians.allSatisfy { (0...1000).contains($0.position) })
    }

    @Test("lines are not too near each other", arguments: [0.01, 0.3, 2, 40, 300]) func distance(width: Double) {
        let box = BoundingBox(west: -width / 2, south: -width / 4, east: width / 2, north: width / 4)
        let positions = graticule(box).meridians.map(\.position)
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $1 - $0 >= 89.9 })
        #expect(!positions.isEmpty)
    }
}
