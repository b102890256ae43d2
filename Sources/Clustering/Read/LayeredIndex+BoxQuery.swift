// SPDX-License-Identifier: MIT

extension LayeredIndex {
    /// A node's rank in an answer: along the curve, and within a cell points first.
    struct Ranked: BitwiseCopyable {
        fileprivate var code: UInt64
        fileprivate var rank: Rank
        fileprivate var node: Node

        static func < (a: Self, b: Self) -> Bool { a.code == b.code ? a.rank < b.rank : a.code < b.code }
    }

    /// Appends the nodes inside a box at a level, in the order that an index built as a whole has.
    ///
    /// - Returns: whether there are more than `limit`.
    @inline(never) func collect(_ box: UnitBox, level: Int, limit: Int, into found: inout [Node]) -> Bool {
        switch base.spatial {
        case .float(let spatial): collect(box, level, limit, spatial, &found)
        case .double(let spatial): collect(box, level, limit, spatial, &found)
        }
    }

    private func collect<Scalar: Coordinate>(
        _ box: UnitBox, _ level: Int, _ limit: Int, _ spatial: SpatialIndex<Scalar>, _ found: inout [Node]
    ) -> Bool {
        var added: [Ranked] = []
        delta.levels[level - options.minimumZoom].visit(box) { entry in
            added.append(rank(entry.key, Scalar(entry.x), Scalar(entry.y)))
        }
        added.sort(by: <)
        var next = 0
        if limit == .max || level - options.minimumZoom < spatial.lowLevels.count {
            spatial.visitTogether(box, zoom: level) { slot in
                if found.count <= limit { add(slot, level, added, &next, &found) }
            }
        } else {
            // Not in batches: what comes after the limit may have to be read from a disk.
            _ = spatial.visit(box, zoom: level) { slot in
                add(slot, level, added, &next, &found)
                return found.count <= limit
            }
        }
        for rest in added[next...] { found.append(rest.node) }
        guard found.count > limit else { return false }
        found.removeLast(found.count - limit)
        return true
    }

    /// Appends the base's node of a slot, unless the delta hides it, and before it the delta's nodes that precede it.
    @inline(__always) private func add<Scalar: Coordinate>(
        _ slot: SpatialSlot<Scalar>, _ level: Int, _ added: [Ranked], _ next: inout Int, _ found: inout [Node]
    ) {
        let key = key(ofBase: slot.node)
        if delta.hides(key, at: level) { return }
        if next < added.count {
            let code = ZOrderCurve.code(slot.x, slot.y)
            while next < added.count, isBefore(added[next], key, code) {
                found.append(added[next].node)
                next += 1
            }
        }
        found.append(key.node)
    }

    /// Calls `body` with each node inside a box at a level, and its position as compared, in no particular order.
    func visitNodes(in box: UnitBox, level: Int, _ body: (_ key: NodeKey, _ x: Double, _ y: Double) -> Void) {
        switch base.spatial {
        case .float(let spatial): visitNodes(in: box, level, spatial, body)
        case .double(let spatial): visitNodes(in: box, level, spatial, body)
        }
    }

    private func visitNodes<Scalar: Coordinate>(
        in box: UnitBox, _ level: Int, _ spatial: SpatialIndex<Scalar>, _ body: (NodeKey, Double, Double) -> Void
    ) {
        let isPlain = delta.isEmpty
        spatial.visitTogether(box, zoom: level) { slot in
            let key = key(ofBase: slot.node)
            if isPlain || !delta.hides(key, at: level) { body(key, Double(slot.x), Double(slot.y)) }
        }
        guard !isPlain else { return }
        delta.levels[level - options.minimumZoom].visit(box) { body($0.key, $0.x, $0.y) }
    }

    /// Whether a node of the delta precedes a node of the base that lies in the cell with the given code.
    @inline(__always) private func isBefore(_ made: Ranked, _ key: NodeKey, _ code: UInt64) -> Bool {
        // Ranks are read only for nodes in the same cell, which are few, because reading one waits for memory.
        made.code == code ? made.rank < rank(of: key) : made.code < code
    }

    /// - Parameters:
    ///   - x: the position as compared.
    ///   - y: the position as compared.
    @inline(__always) func rank<Scalar: Coordinate>(_ key: NodeKey, _ x: Scalar, _ y: Scalar) -> Ranked {
        Ranked(code: ZOrderCurve.code(x, y), rank: rank(of: key), node: key.node)
    }

    /// A node's rank among those of its cell, as a build orders them: points first, then deeper clusters before others.
    fileprivate struct Rank: BitwiseCopyable {
        var level: UInt8
        var order: OrderLabel

        static func < (a: Self, b: Self) -> Bool {
            a.level == b.level ? a.order < b.order : a.level < b.level
        }
    }

    private func rank(of key: NodeKey) -> Rank {
        let level = key.isCluster ? 64 - zoom(ofCluster: key.number) : 0
        return Rank(level: UInt8(truncatingIfNeeded: level), order: order(of: key))
    }
}
