// SPDX-License-Identifier: MIT
import Clustering
import Testing

@testable import ShardedBuild

@Suite("Cuts of a level") struct LevelCutTests {
    /// Nodes in a grid over the unit square, and as many at one place.
    private static func nodes(_ side: Int, atOnePlace count: Int = 0) -> [LevelNode] {
        let places =
            (0..<side * side).map { (Double($0 % side) / Double(side), Double($0 / side) / Double(side)) }
            + [(Double, Double)](repeating: (0.501, 0.502), count: count)
        return places.enumerated().map { index, place in
            LevelNode(
                x: place.0, y: place.1, weight: 1, order: UInt32(index), count: 1, partition: 0, zoom: 17)
        }
    }

    private static func cut(_ nodes: [LevelNode], most: Int, room: Int) -> LevelCut {
        var sample = LevelSample(of: nodes.count, most: most)
        for node in nodes { sample.add(node) }
        return LevelCut(sample, most: most, room: room, leastSide: 0.01, margin: 0.02)
    }

    @Test("every node has one owner, whose area contains it, and is given to all parts within the margin")
    func owners() throws {
        let nodes = Self.nodes(50)
        let cut = Self.cut(nodes, most: 200, room: 100_000)
        #expect(cut.parts.count >= 13 && !cut.isCrowd.contains(true))
        var owned = [Int](repeating: 0, count: cut.parts.count)
        for node in nodes {
            let owner = cut.owner(x: node.x, y: node.y)
            owned[owner] += 1
            #expect(cut.parts.indices.filter { cut.parts[$0].owns(x: node.x, y: node.y) } == [owner])
            var given: Set<Int> = []
            try cut.forEachPart(x: node.x, y: node.y) { (part) throws(BuildError) in given.insert(part) }
            let near = cut.parts.indices.filter { part in
                let (area, margin) = (cut.parts[part].area, cut.parts[part].margin)
                return node.x >= area.west - margin && node.x <= area.east + margin && node.y >= area.north - margin
                    && node.y <= area.south + margin
            }
            #expect(given.isSuperset(of: near), "\(node) is not given to all of \(near)")
        }
        #expect(owned.allSatisfy { $0 <= 200 }, "\(owned)")
    }

    @Test("a crowd is a hole in the parts around it, and no part")
    func crowds() throws {
        let cut = Self.cut(Self.nodes(50, atOnePlace: 3000), most: 200, room: 1000)
        let crowds = cut.parts.indices.filter { cut.isCrowd[$0] }
        #expect(crowds.contains(cut.owner(x: 0.501, y: 0.502)))
        #expect(crowds.count < cut.parts.count / 2, "\(crowds.count) of \(cut.parts.count)")
        for part in cut.parts.indices where !cut.isCrowd[part] {
            let touched = crowds.map { cut.parts[$0].area }.filter { cut.parts[part].touches($0) }
            #expect(cut.parts[part].holes == touched)
        }
    }

    @Test("steps are the same after they were written as JSON and read again")
    func steps() throws {
        var part = LevelPart(LevelRectangle(west: 0.1, north: 1.0 / 3, east: 0.7, south: 1), margin: 1e-5)
        part.holes = [.all, LevelRectangle(west: 0.25, north: 0.125, east: 0.5, south: 0.2)]
        let step = DecideStep(
            options: "o", zooms: 3...7, part: part, inputs: ["a", "b"], output: LevelFiles(base: "out"),
            memory: 1 << 30, threads: 2)
        let read = try #require(StepReading.step(step.json) as? DecideStep)
        #expect(read.part == part && read.json == step.json)
        let stream = LevelStream(
            options: "o", zooms: 0...4, open: ["a"], claimed: [], taken: ["b", "c"], output: LevelFiles(base: "out"),
            memory: 64)
        #expect((StepReading.step(stream.json) as? LevelStream)?.json == stream.json)
    }
}
