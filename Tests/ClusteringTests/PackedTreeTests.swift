// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Levels of few nodes") struct PackedTreeTests {
    private static func box(_ random: inout SeededGenerator) -> UnitBox {
        let width = Double.random(in: 0...0.4, using: &random)
        let height = Double.random(in: 0...0.4, using: &random)
        let x = Double.random(in: -0.1...1, using: &random)
        let y = Double.random(in: -0.1...1, using: &random)
        return UnitBox(minimumX: x, minimumY: y, maximumX: x + width, maximumY: y + height)
    }

    @Test("they give the same answers as the tree of all levels, in the same order and up to a limit")
    func sameAnswers() throws {
        let index = try ClusterIndex.build(PointSet.gathered.places(60_000), ClusteringOptions())
        guard case .float(let spatial) = index.layers.base.spatial else {
            Issue.record("places are to be held as floats")
            return
        }
        var random = SeededGenerator(state: 3)
        var found: [Node] = []
        var (most, cut) = (0, 0)
        for zoom in 0...7 {
            for _ in 0..<100 {
                let box = Self.box(&random)
                var expected: [Node] = []
                _ = spatial.visit(box, zoom: zoom) {
                    expected.append(Node(number: $0.node, pointCount: spatial.layout.pointCount))
                    return true
                }
                for limit in [Int.max, 0, 1, expected.count, max(0, expected.count - 1), 60] {
                    found.removeAll()
                    let more = spatial.collect(box, zoom: zoom, limit: limit, into: &found)
                    #expect(found == Array(expected.prefix(limit)))
                    #expect(more == (expected.count > limit))
                    if more { cut += 1 }
                }
                most = max(most, expected.count)
            }
        }
        #expect(most > 256)
        #expect(cut > 100)
    }

    @Test("a node on a box's edge is inside, next to it outside") func edges() throws {
        let index = try ClusterIndex.build(PointSet.gathered.places(20_000), ClusteringOptions())
        guard case .float(let spatial) = index.layers.base.spatial else {
            Issue.record("places are to be held as floats")
            return
        }
        var found: [Node] = []
        let whole = UnitBox(minimumX: 0, minimumY: 0, maximumX: 1, maximumY: 1)
        var checked = 0
        _ = spatial.visit(whole, zoom: 1) { slot in
            let (x, y) = (Double(slot.x), Double(slot.y))
            let node = Node(number: slot.node, pointCount: spatial.layout.pointCount)
            found.removeAll()
            _ = spatial.collect(
                UnitBox(minimumX: x, minimumY: y, maximumX: x, maximumY: y), zoom: 1, limit: .max, into: &found)
            #expect(found.contains(node))
            found.removeAll()
            _ = spatial.collect(
                UnitBox(minimumX: x.nextUp, minimumY: y, maximumX: 1, maximumY: 1), zoom: 1, limit: .max, into: &found)
            #expect(!found.contains(node))
            checked += 1
            return true
        }
        #expect(checked > 16)
    }
}
