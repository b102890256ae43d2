// SPDX-License-Identifier: MIT
import Clustering

/// Some of a level's nodes, enough to estimate how many lie in a rectangle. Which ones depends on their orders alone.
struct LevelSample {
    fileprivate struct Place {
        var x: Double
        var y: Double
    }

    fileprivate private(set) var places: [Place] = []
    /// How many nodes one of the sample stands for.
    fileprivate let scale: Double
    private let limit: UInt64

    /// - Parameters:
    ///   - count: the level's number of nodes.
    ///   - most: about how many nodes a part will have.
    init(of count: Int, most: Int) {
        let size = max(1 << 18, 256 * (count / max(1, most)))
        scale = max(1, Double(count) / Double(size))
        limit = scale == 1 ? .max : UInt64(Double(UInt64.max) / scale)
    }

    mutating func add(_ node: LevelNode) {
        var hash = (UInt64(node.order) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 27
        if hash <= limit { places.append(Place(x: node.x, y: node.y)) }
    }
}

/// Cuts the unit square into rectangles that have about the same number of a level's nodes, halving it again and again.
///
/// Where so many nodes lie within a few radii that a rectangle with its margin would have too many, it is a **crowd**: no
/// part, but a hole in the parts around it.
struct LevelCut {
    private indirect enum Tree {
        case rectangle(Int)
        case halves(isByX: Bool, line: Double, first: Tree, second: Tree)
    }

    let parts: [LevelPart]
    /// By part: whether it is a crowd.
    let isCrowd: [Bool]
    private let margin: Double
    private let tree: Tree

    /// - Parameters:
    ///   - most: how many nodes a rectangle should have at most.
    ///   - room: how many a part may have with its margin.
    ///   - leastSide: a rectangle's least side.
    init(_ sample: LevelSample, most: Int, room: Int, leastSide: Double, margin: Double) {
        self.margin = margin
        var cutter = Cutter(places: sample.places, most: Double(most) / sample.scale, leastSide: leastSide)
        tree = cutter.cut(0..<sample.places.count, .all)
        let rectangles = cutter.rectangles
        var isCrowd = cutter.counts.map { Double($0) * sample.scale > Double(room) }
        // What each part knows.
        var known = [Int](repeating: 0, count: rectangles.count)
        for place in sample.places where !isCrowd[Self.owner(tree, place.x, place.y)] {
            Self.visit(tree, place.x, place.y, margin) { known[$0] += 1 }
        }
        for part in rectangles.indices where Double(known[part]) * sample.scale > Double(room) { isCrowd[part] = true }
        let holes = rectangles.indices.filter { isCrowd[$0] }.map { rectangles[$0] }
        parts = rectangles.map { area in
            var part = LevelPart(area, margin: margin)
            part.holes = holes.filter { part.touches($0) }
            return part
        }
        self.isCrowd = isCrowd
    }

    /// The part that owns a node here.
    func owner(x: Double, y: Double) -> Int { Self.owner(tree, x, y) }

    /// The parts that own or have to know a node here, crowds among them.
    ///
    /// - Complexity: O(log parts + answers).
    func forEachPart(x: Double, y: Double, _ body: (Int) throws(BuildError) -> Void) throws(BuildError) {
        try Self.visit(tree, x, y, margin, body)
    }

    private static func visit<Failure: Error>(
        _ tree: Tree, _ x: Double, _ y: Double, _ margin: Double, _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        switch tree {
        case .rectangle(let part): try body(part)
        case .halves(let isByX, let line, let first, let second):
            let value = isByX ? x : y
            if value <= line + margin { try visit(first, x, y, margin, body) }
            if value >= line - margin { try visit(second, x, y, margin, body) }
        }
    }

    private static func owner(_ tree: Tree, _ x: Double, _ y: Double) -> Int {
        switch tree {
        case .rectangle(let part): part
        case .halves(let isByX, let line, let first, let second):
            owner((isByX ? x : y) < line ? first : second, x, y)
        }
    }

    private struct Cutter {
        var places: [LevelSample.Place]
        let most: Double
        let leastSide: Double
        var rectangles: [LevelRectangle] = []
        var counts: [Int] = []

        init(places: [LevelSample.Place], most: Double, leastSide: Double) {
            (self.places, self.most, self.leastSide) = (places, most, leastSide)
        }

        mutating func cut(_ range: Range<Int>, _ area: LevelRectangle) -> Tree {
            let (width, height) = (area.east - area.west, area.south - area.north)
            let isByX = width >= height
            guard Double(range.count) > most, max(width, height) >= 2 * leastSide else {
                rectangles.append(area)
                counts.append(range.count)
                return .rectangle(rectangles.count - 1)
            }
            if isByX { places[range].sort { $0.x < $1.x } } else { places[range].sort { $0.y < $1.y } }
            func value(_ index: Int) -> Double { isByX ? places[index].x : places[index].y }
            let (low, high) = isByX ? (area.west, area.east) : (area.north, area.south)
            // The line that leaves about half of the nodes on either side.
            let line = max(low + leastSide, min(high - leastSide, value(range.lowerBound + range.count / 2)))
            var (start, end) = (range.lowerBound, range.upperBound)
            while start < end {
                let middle = (start + end) / 2
                if value(middle) < line { start = middle + 1 } else { end = middle }
            }
            var (first, second) = (area, area)
            if isByX { (first.east, second.west) = (line, line) } else { (first.south, second.north) = (line, line) }
            let before = cut(range.lowerBound..<start, first)
            let after = cut(start..<range.upperBound, second)
            return .halves(isByX: isByX, line: line, first: before, second: after)
        }
    }
}
