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
        _ = base.visit(box, zoom: level) { slot in
            let key = state.key(ofBase: slot.node)
            if state.isHidden(key, at: level) { return true }
            if next < added.count {
                let ranked = rank(key, slot.x, slot.y)
                while next < added.count, added[next] < ranked {
                    found.append(added[next].node)
                    next += 1
                }
            }
            found.append(key.node)
            return true
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
