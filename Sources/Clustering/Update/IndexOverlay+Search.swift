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
        base.visitTogether(box, zoom: level) { slot in
            let key = state.key(ofBase: slot.node)
            if state.isHidden(key, at: level) { return }
            if next < added.count {
                let code = CurveCode.code(slot.x, slot.y)
                while next < added.count, isBefore(added[next], key, code) {
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

    /// Whether a node that changes made comes before one of the base, which lies in the cell of a code.
    @inline(__always) private func isBefore(_ made: Ranked, _ key: NodeKey, _ code: UInt64) -> Bool {
        // Looking a node's tie up waits for memory; few nodes share a cell.
        made.code == code ? made.tie < tie(of: key) : made.code < code
    }

    @inline(__always) private func rank<Scalar: Coordinate>(
        _ key: NodeKey, _ x: Scalar, _ y: Scalar
    ) -> Ranked {
        Ranked(code: CurveCode.code(x, y), tie: tie(of: key), node: key.node)
    }

    private func tie(of key: NodeKey) -> UInt64 {
        let order = UInt64(state.order(of: key))
        // Points come before clusters, and of these the deepest first: so a build numbers them.
        return key.isCluster ? order | UInt64(64 - state.zoom(ofCluster: key.number)) << 32 : order
    }
}
