// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import Clustering

@Suite("The grid of a delta's nodes") struct NodeGridTests {
    private struct Known: Hashable {
        let key: UInt32
        let x: Double
        let y: Double

        init(_ key: UInt32, _ x: Double, _ y: Double) { (self.key, self.x, self.y) = (key, x, y) }
        init(_ entry: NodeGrid.Entry) { self.init(entry.key.rawValue, entry.x, entry.y) }
    }

    private func nodes(of grid: NodeGrid, in box: UnitBox) -> [Known] {
        var found: [Known] = []
        grid.visit(box) { found.append(Known($0)) }
        return found
    }

    /// Cells are large or small compared with the boxes, which are searched cell by cell or as a whole.
    @Test("finds what was inserted and not removed, and copies stay as they are", arguments: [0.001, 0.02, 0.5])
    func random(_ cell: Double) throws {
        var random = SeededRandom(seed: 3)
        func number() -> Double { Double(random.below(1000)) / 1000 }
        var grid = NodeGrid(cell: cell)
        var expected: Set<Known> = []
        var copies: [(grid: NodeGrid, nodes: Set<Known>)] = []
        for step in 0..<6000 {
            // First it grows, then it shrinks to nothing and grows again.
            let shrinks = (2500..<5000).contains(step)
            if random.below(4) < (shrinks ? 3 : 1), let known = expected.randomElement(using: &random) {
                let removed = (0..<2).map { _ in grid.remove(NodeKey(rawValue: known.key), x: known.x, y: known.y) }
                #expect(removed == [true, false], "step \(step)")
                expected.remove(known)
            } else {
                let known = Known(UInt32(step), number(), number())
                grid.insert(NodeKey(rawValue: known.key), x: known.x, y: known.y)
                expected.insert(known)
            }
            #expect(grid.entries.count == expected.count)
            if step % 1000 == 500 { copies.append((grid, expected)) }
            guard step % 50 == 0 else { continue }
            let reach = [0.003, 0.05, 2][step / 50 % 3]
            let box = UnitBox(around: number(), number(), reach: reach)
            let found = nodes(of: grid, in: box)
            #expect(Set(found) == expected.filter { box.contains($0.x, $0.y) }, "step \(step)")
            #expect(Set(found).count == found.count, "step \(step): each once")
        }
        copies.append((grid, expected))
        for (grid, expected) in copies {
            let all = grid.entries.values.map(Known.init)
            #expect(all.count == expected.count)
            #expect(Set(all) == expected)
            #expect(Set(nodes(of: grid, in: UnitBox(around: 0.5, 0.5, reach: 1))) == expected)
        }
    }
}
