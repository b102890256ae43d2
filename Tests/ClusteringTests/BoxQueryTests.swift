// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Boxes and tiles") struct BoxQueryTests {
    /// Supercluster's getClusters by looking at every node of the level.
    private func expected(
        _ reference: ReferenceClustering, _ box: (Double, Double, Double, Double), zoom: Int
    ) -> [String] {
        func wrap(_ longitude: Double) -> Double {
            ((longitude + 180).truncatingRemainder(dividingBy: 360) + 360).truncatingRemainder(dividingBy: 360) - 180
        }
        var left = wrap(box.0)
        var right = box.2 == 180 ? 180 : wrap(box.2)
        let south = max(-90, min(90, box.1))
        let north = max(-90, min(90, box.3))
        if box.2 - box.0 >= 360 {
            (left, right) = (-180, 180)
        } else if left > right {
            return
                (expected(reference, (left, south, 180, north), zoom: zoom)
                + expected(reference, (-180, south, right, north), zoom: zoom)).sorted()
        }
        return reference.levels[zoom].filter { item in
            let (x, y) = (Double(Float(item.x)), Double(Float(item.y)))
            return x >= Mercator.x(longitude: left) && x <= Mercator.x(longitude: right)
                && y >= Mercator.y(latitude: north) && y <= Mercator.y(latitude: south)
        }.map { $0.count > 1 ? "c\($0.id):\($0.count)" : "p\($0.id)" }.sorted()
    }

    @Test("boxes of every kind", arguments: [PointSet.uniform, .gathered, .edges]) func boxes(_ set: PointSet) throws {
        let places = set.places(1500)
        let reference = ReferenceClustering(places, ClusteringOptions())
        let index = try ClusterIndex.build(places, ClusteringOptions())
        var random = SeededGenerator(state: 11)
        var boxes: [(Double, Double, Double, Double)] = [
            (-180, -90, 180, 90), (170, -90, -170, 90), (190, -10, 200, 10), (-540, -90, 540, 90),
            (180, -90, 180, 90), (-180, -90, -180, 90), (0, 10, 10, -10), (-1000, -1000, 1000, 1000),
            (10, 90, 20, 90), (179, -90, 180, 90),
        ]
        for _ in 0..<60 {
            let west = Double.random(in: -400...400, using: &random)
            let south = Double.random(in: -100...90, using: &random)
            boxes.append(
                (
                    west, south, west + .random(in: -10...200, using: &random),
                    south + .random(in: 0...90, using: &random)
                ))
        }
        var nodes: [Node] = []
        for box in boxes {
            for zoom in [0, 3, 7, 16, 17] {
                let more = index.nodes(
                    west: box.0, south: box.1, east: box.2, north: box.3, at: Zoom(rawValue: zoom), into: &nodes)
                #expect(!more)
                #expect(nodes.map(index.label).sorted() == expected(reference, box, zoom: zoom), "\(box) at \(zoom)")
            }
        }
    }

    @Test("a limit returns the first nodes of the whole answer and whether there are more") func limits() throws {
        let index = try ClusterIndex.build(PointSet.uniform.places(500), ClusteringOptions())
        let whole = index.all(at: 17)
        var part: [Node] = []
        for limit in [0, 1, 7, 499, 500, 501] {
            let more = index.nodes(
                west: -180, south: -90, east: 180, north: 90, at: Zoom(rawValue: 17), limit: limit, into: &part)
            #expect(part == Array(whole.prefix(limit)))
            #expect(more == (limit < 500))
        }
    }

    @Test("tiles contain the nodes inside and in a margin, across the antimeridian too") func tiles() throws {
        let places = PointSet.uniform.places(1500) + PointSet.edges.places(40)
        let options = ClusteringOptions(radius: 60)
        let reference = ReferenceClustering(places, options)
        let index = try ClusterIndex.build(places, options)
        var found: [ClusterIndex.TileNode] = []
        for z in 0...4 {
            let scale = Double(1 << z)
            let margin = 60.0 / 512
            for x in 0..<(1 << z) {
                for y in 0..<(1 << z) {
                    index.tileNodes(z: z, x: Double(x), y: Double(y), into: &found)
                    var expected: [String] = []
                    for shift in [0.0, scale, -scale] where shift == 0 || (shift > 0 ? x == 0 : x == (1 << z) - 1) {
                        let column = Double(x) + shift
                        let (left, right) = ((column - margin) / scale, (column + 1 + margin) / scale)
                        let (top, bottom) = ((Double(y) - margin) / scale, (Double(y) + 1 + margin) / scale)
                        for item in reference.levels[z] {
                            let (px, py) = (Double(Float(item.x)), Double(Float(item.y)))
                            guard px >= left, px <= right, py >= top, py <= bottom else { continue }
                            let id = item.count > 1 ? "c\(item.id):\(item.count)" : "p\(item.id)"
                            expected.append("\(id) \(shift == 0 ? column : shift > 0 ? scale : -1)")
                        }
                    }
                    let given = found.map { "\(index.label($0.node)) \($0.column)" }
                    #expect(given.sorted() == expected.sorted(), "tile \(z)/\(x)/\(y)")
                }
            }
        }
    }
}
