// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import Rendering

@Suite("Where counts are written") struct LabelPlacementTests {
    private static let area = PixelBox(left: 0, top: 0, width: 1000, height: 1000)

    @Test("a circle that nothing covers has its count in the middle")
    func middle() {
        var placement = LabelPlacement(
            discs: [Disc(centre: PixelPoint(x: 200, y: 200), radius: 30)], in: Self.area)
        #expect(placement.place(width: 30, height: 10, in: 0) == PixelPoint(x: 200, y: 200))
    }

    @Test("a count avoids the circles above its own, and other counts") func covered() {
        let discs = [
            Disc(centre: PixelPoint(x: 200, y: 200), radius: 40), Disc(centre: PixelPoint(x: 205, y: 180), radius: 20),
        ]
        var placement = LabelPlacement(discs: discs, in: Self.area)
        let small = PixelBox.around(placement.place(width: 24, height: 10, in: 1), width: 24, height: 10)
        let large = PixelBox.around(placement.place(width: 30, height: 10, in: 0), width: 30, height: 10)
        #expect(!large.intersects(discs[1]))
        #expect(!large.intersects(small))
    }

    @Test("a count stays in its circle, wherever it is", arguments: 0..<20) func random(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let discs = (0..<60).map { _ in
            Disc(
                centre: PixelPoint(
                    x: Double.random(in: 0...1000, using: &random), y: Double.random(in: 0...1000, using: &random)),
                radius: Double.random(in: 8...50, using: &random))
        }.sorted { $0.radius > $1.radius }
        var placement = LabelPlacement(discs: discs, in: Self.area)
        for number in discs.indices.reversed() {
            let size = min(12, discs[number].radius)
            let middle = placement.place(width: size * 1.2, height: size * 0.8, in: number)
            let (x, y) = (middle.x - discs[number].centre.x, middle.y - discs[number].centre.y)
            #expect((x * x + y * y).squareRoot() <= discs[number].radius)
        }
    }

    @Test("cells find every box that overlaps, as looking at all of them does", arguments: 0..<10)
    func cells(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        func box() -> PixelBox {
            PixelBox(
                left: Double.random(in: -300...1000, using: &random),
                top: Double.random(in: -300...1000, using: &random), width: Double.random(in: 0...200, using: &random),
                height: Double.random(in: 0...200, using: &random))
        }
        let boxes = (0..<100).map { _ in box() }
        var index = CellIndex()
        for (number, box) in boxes.enumerated() { index.insert(number, box) }
        for _ in 0..<50 {
            let sought = box()
            let naive = Set(boxes.indices.filter { boxes[$0].intersects(sought) })
            #expect(naive.isSubset(of: index.numbers(near: sought)))
        }
    }
}
