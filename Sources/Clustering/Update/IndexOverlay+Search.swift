// SPDX-License-Identifier: MIT

extension IndexOverlay {
    /// A node in the order in which answers tell nodes: along the curve, of one cell points first.
    private struct Ranked: BitwiseCopyable {
        var code: UInt64
        var tie: UInt64
        var node: Node

        static func < (a: Self, b: Self) -> Bool { (a.code, a.tie) < (b.code, b.tie) }
    }

    /// Appends the nodes inside a box at a level, in the order of an index built anew.
    ///
    /// - Returns: whether there are more than `limit`.
    func collect<Scalar: Coordinate>(
        _ box: UnitBox, level: Int, limit: Int, base: SpatialIndex<Scalar>, into found: inout [Node]
    ) -> Bool {
        var added: [Ranked] = []
        state.levels[level - state.options.minimumZoom].visit(box) { entry in
            added.append(rank(entry.key, Scalar(entry.x), Scalar(entry.y)))
        }
        added.sort(by: <)
        var next = 0
        base.visit(box, zoom: level) { number, x, y in
            let key = state.key(ofBase: number)
            if state.isHidden(key, at: level) { return }
            if next < added.count {
                let ranked = rank(key, x, y)
                while next < added.count, added[next] < ranked {
                    found.append(added[next].node)
                    next += 1
                }
            }
            found.append(key.node)
        }
        for rest in added[next...] { found.append(rest.node) }
        guard found.count > limit else { return false }
        found.removeLast(found.count - limit)
        return true
    }

    @inline(__always) private func rank<Scalar: Coordinate>(
        _ key: NodeKey, _ x: Scalar, _ y: Scalar
    ) -> Ranked {
        var tie = UInt64(state.order(of: key))
        // Points come before clusters, and of these the deepest first: so a build numbers them.
        if key.isCluster { tie |= UInt64(64 - state.zoom(ofCluster: key.number)) << 32 }
        return Ranked(code: CurveCode.code(x, y), tie: tie, node: key.node)
    }
}

extension SpatialIndex {
    /// Calls `body` with the number and place of each node inside a box at a zoom, in the curve's order.
    @inline(__always) func visit(_ box: UnitBox, zoom: Int, _ body: (UInt32, Scalar, Scalar) -> Void) {
        let level = zoom - layout.minimumZoom
        let words = alive.base + level * layout.wordCount
        let summaries = aliveWords.base + level * layout.groupCount
        for group in 0..<layout.groupCount {
            var summary = summaries[group]
            guard summary != 0, groupBoxes[group].meets(box) else { continue }
            while summary != 0 {
                let word = group * 64 + summary.trailingZeroBitCount
                summary &= summary &- 1
                guard wordBoxes[word].meets(box) else { continue }
                var bits = words[word]
                while bits != 0 {
                    let slot = slots[word * 64 + bits.trailingZeroBitCount]
                    bits &= bits &- 1
                    if box.contains(Double(slot.x), Double(slot.y)) { body(slot.node, slot.x, slot.y) }
                }
            }
        }
    }
}
