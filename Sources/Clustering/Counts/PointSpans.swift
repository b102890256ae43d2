// SPDX-License-Identifier: MIT
import SystemSupport

/// Points as spans of a build's points in the order of clusters' leaves, and those that updates placed.
struct PointSpans {
    private(set) var spans: [WaveletMatrix.Span] = []
    /// Indexes among the placed points.
    private(set) var placed: [UInt32] = []
    private var isSorted = true

    /// The number of points.
    var count: Int { spans.reduce(placed.count) { $0 + $1.count } }

    mutating func add(_ start: Int, count: Int) {
        guard count > 0 else { return }
        if let last = spans.indices.last {
            if spans[last].end == start { return spans[last].end = start + count }
            if spans[last].end > start { isSorted = false }
        }
        spans.append(WaveletMatrix.Span(start: start, end: start + count))
    }

    mutating func add(placed slot: UInt32) { placed.append(slot) }

    /// Joins spans that follow one another.
    mutating func join() {
        guard !isSorted else { return }
        spans.sort { $0.start < $1.start }
        var joined: [WaveletMatrix.Span] = []
        for span in spans {
            if let last = joined.indices.last, joined[last].end == span.start {
                joined[last].end = span.end
            } else {
                joined.append(span)
            }
        }
        (spans, isSorted) = (joined, true)
    }
}

/// Finds the points in a box as few nodes: clusters that lie in it with all their points, and single points at its edges.
struct BoxCover {
    let layers: LayeredIndex
    /// By zoom, from 0: how far a cluster of the zoom may reach from its centre.
    private let reaches: [Double]
    /// More than rounding moves a position.
    private let slack: Double

    init(_ layers: LayeredIndex) {
        self.layers = layers
        let options = layers.options
        slack = options.centerSlack + (options.precision == .float ? 0x1p-21 : 0x1p-40)
        var reaches = [Double](repeating: 0, count: options.maximumZoom + 2)
        // A cluster's nodes, and so its centre, lie within the radius of the node from which it grew.
        for zoom in stride(from: options.maximumZoom, through: 0, by: -1) {
            reaches[zoom] = reaches[zoom + 1] + 2 * options.unitRadius(at: zoom) + slack
        }
        self.reaches = reaches
    }

    /// Calls `body` with nodes inside the box, each of which has points that no other one has; together they have all
    /// points inside.
    ///
    /// A node is one of them if it lies in the box by its centre and reach, and what shows its points at the zoom
    /// before does not. That is at most two radii away, so at each zoom only nodes near the edge have to be visited.
    ///
    /// - Complexity: O(nodes within a few radii of the edge, at each zoom).
    func visit(_ box: UnitBox, _ body: (NodeKey) -> Void) {
        let options = layers.options
        // Nothing lies beyond the edges of the world, so what is near them does not reach out of the box.
        let box = UnitBox(
            minimumX: box.minimumX <= 0 ? -.infinity : box.minimumX,
            minimumY: box.minimumY <= 0 ? -.infinity : box.minimumY,
            maximumX: box.maximumX >= 1 ? .infinity : box.maximumX,
            maximumY: box.maximumY >= 1 ? .infinity : box.maximumY)
        var former: UnitBox?
        for level in options.minimumZoom...options.maximumZoom + 1 {
            let inside = box.inset(reaches[level])
            guard !inside.isEmpty else { continue }
            let isLast = level > options.maximumZoom
            // Clusters are tested by their exact centres.
            let region = isLast ? inside : inside.inset(-slack)
            let done = former.map { $0.inset(2 * options.unitRadius(at: level - 1) + slack) }
            for (strip, isBeside) in region.strips(around: done) {
                layers.visitNodes(in: strip, level: level) { key, x, y in
                    // The strips above and below have what lies on their edges.
                    if isBeside, y == strip.minimumY || y == strip.maximumY { return }
                    let position = key.isCluster ? layers.center(ofCluster: key.number) : (x, y)
                    guard inside.contains(position.0, position.1) else { return }
                    if let former {
                        let (x, y) = shown(key, before: level) ?? position
                        if former.contains(x, y) { return }
                    }
                    body(key)
                }
            }
            former = inside
        }
    }

    /// The centre of the cluster that shows a node's points at the zoom before a level; nil if the node itself does.
    private func shown(_ key: NodeKey, before level: Int) -> (Double, Double)? {
        let parent = layers.parent(of: key)
        guard parent != NodeNumber.none, layers.zoom(ofCluster: Int(parent)) == level - 1 else { return nil }
        return layers.center(ofCluster: Int(parent))
    }
}

extension UnitBox {
    var isEmpty: Bool { !(minimumX <= maximumX && minimumY <= maximumY) }

    /// The box without a margin; with one of that width if it is negative.
    func inset(_ margin: Double) -> UnitBox {
        UnitBox(
            minimumX: minimumX + margin, minimumY: minimumY + margin, maximumX: maximumX - margin,
            maximumY: maximumY - margin)
    }

    /// The strips that are left of the box without an inner one, which is inside it. Those beside the inner box end
    /// where the strips above and below begin.
    fileprivate func strips(around inner: UnitBox?) -> [(UnitBox, isBeside: Bool)] {
        guard let inner, !inner.isEmpty else { return [(self, false)] }
        var (above, below, before, after) = (self, self, self, self)
        above.maximumY = inner.minimumY
        below.minimumY = inner.maximumY
        (before.minimumY, before.maximumY) = (inner.minimumY, inner.maximumY)
        (after.minimumY, after.maximumY) = (inner.minimumY, inner.maximumY)
        before.maximumX = inner.minimumX
        after.minimumX = inner.maximumX
        return [(above, false), (below, false), (before, true), (after, true)].filter { strip, _ in
            strip.minimumX < strip.maximumX && strip.minimumY < strip.maximumY
        }
    }
}
