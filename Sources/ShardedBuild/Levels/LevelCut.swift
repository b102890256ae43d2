// SPDX-License-Identifier: MIT
import Clustering

/// Cuts the unit square into rectangles that have about the same number of a level's nodes, halving it again and again.
struct LevelCut {
    private enum Tree {
        case part(Int)
        indirect case halves(isByX: Bool, line: Double, first: Tree, second: Tree)
    }

    let parts: [LevelPart]
    private let tree: Tree

    /// Counts of nodes by cell of a grid.
    struct Histogram {
        static let bits = 11
        static let side = 1 << bits
        fileprivate(set) var counts = [UInt32](repeating: 0, count: side * side)

        mutating func add(x: Double, y: Double) { counts[Self.cell(y) * Self.side + Self.cell(x)] += 1 }

        private static func cell(_ value: Double) -> Int { max(0, min(side - 1, Int(value * Double(side)))) }
    }

    /// - Parameters:
    ///   - most: how many nodes a rectangle should have at most. One that cannot be halved may have more.
    ///   - leastSide: a rectangle's least side.
    init(_ histogram: Histogram, most: Int, leastSide: Double, margin: Double) {
        var cutter = Cutter(histogram, most: most, leastSide: leastSide, margin: margin)
        tree = cutter.cut(0..<Histogram.side, 0..<Histogram.side)
        parts = cutter.parts
    }

    /// The parts that own or have to know a node here.
    ///
    /// - Complexity: O(log parts + answers).
    func forEachPart(x: Double, y: Double, margin: Double, _ body: (Int) throws(BuildError) -> Void) throws(BuildError)
    {
        try visit(tree, x, y, margin, body)
    }

    private func visit(
        _ tree: Tree, _ x: Double, _ y: Double, _ margin: Double, _ body: (Int) throws(BuildError) -> Void
    ) throws(BuildError) {
        switch tree {
        case .part(let part): try body(part)
        case .halves(let isByX, let line, let first, let second):
            let value = isByX ? x : y
            if value <= line + margin { try visit(first, x, y, margin, body) }
            if value >= line - margin { try visit(second, x, y, margin, body) }
        }
    }

    private struct Cutter {
        /// By corner: the number of nodes north-west of it.
        private let sums: [UInt32]
        private let most: Int
        private let leastCells: Int
        private let margin: Double
        var parts: [LevelPart] = []
        private static var width: Int { Histogram.side + 1 }

        init(_ histogram: Histogram, most: Int, leastSide: Double, margin: Double) {
            (self.most, self.margin) = (most, margin)
            leastCells = max(1, Int((min(1, leastSide) * Double(Histogram.side)).rounded(.up)))
            var sums = [UInt32](repeating: 0, count: Self.width * Self.width)
            for row in 0..<Histogram.side {
                var sum: UInt32 = 0
                for column in 0..<Histogram.side {
                    sum += histogram.counts[row * Histogram.side + column]
                    sums[(row + 1) * Self.width + column + 1] = sums[row * Self.width + column + 1] + sum
                }
            }
            self.sums = sums
        }

        private func count(_ columns: Range<Int>, _ rows: Range<Int>) -> Int {
            func sum(_ column: Int, _ row: Int) -> Int { Int(sums[row * Self.width + column]) }
            return sum(columns.upperBound, rows.upperBound) - sum(columns.lowerBound, rows.upperBound)
                - sum(columns.upperBound, rows.lowerBound) + sum(columns.lowerBound, rows.lowerBound)
        }

        mutating func cut(_ columns: Range<Int>, _ rows: Range<Int>) -> Tree {
            let all = count(columns, rows)
            let isByX = columns.count >= rows.count
            let long = isByX ? columns : rows
            guard all > most, long.count >= 2 * leastCells else {
                parts.append(part(columns, rows))
                return .part(parts.count - 1)
            }
            // The line that leaves about half of the nodes on either side.
            var (low, high) = (long.lowerBound + leastCells, long.upperBound - leastCells)
            while low < high {
                let middle = (low + high) / 2
                let first = isByX ? count(columns.lowerBound..<middle, rows) : count(columns, rows.lowerBound..<middle)
                if 2 * first < all { low = middle + 1 } else { high = middle }
            }
            let line = Double(low) / Double(Histogram.side)
            let first =
                isByX ? cut(columns.lowerBound..<low, rows) : cut(columns, rows.lowerBound..<low)
            let second =
                isByX ? cut(low..<columns.upperBound, rows) : cut(columns, low..<rows.upperBound)
            return .halves(isByX: isByX, line: line, first: first, second: second)
        }

        private func part(_ columns: Range<Int>, _ rows: Range<Int>) -> LevelPart {
            let side = Double(Histogram.side)
            return LevelPart(
                west: Double(columns.lowerBound) / side, north: Double(rows.lowerBound) / side,
                east: Double(columns.upperBound) / side, south: Double(rows.upperBound) / side, margin: margin)
        }
    }
}
