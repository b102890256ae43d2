// SPDX-License-Identifier: MIT

/// The nodes that the lowest levels of an index show, as many levels as have few.
struct OverviewNodes<Scalar: Coordinate> {
    /// A node at its position, with a bit for each level that shows it, from the lowest.
    struct Entry {
        let key: NodeKey
        let x: Scalar
        let y: Scalar
        var mask: UInt32
    }

    /// The number of levels.
    private(set) var levels = 0
    /// The nodes in the order of answers.
    private(set) var nodes: [Entry] = []

    /// - Parameters:
    ///   - mostNodes: the most nodes. Nodes of the base that a delta hides count too.
    ///   - mostPoints: the most points among them.
    init(_ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>, mostNodes: Int, mostPoints: Int) {
        let bits = choose(layers, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        for (word, bits) in bits.enumerated() {
            Self.forEach(bits, of: word) { slot in
                let entry = entry(spatial.slots[slot], slot, layers, spatial)
                if entry.mask != 0 { nodes.append(entry) }
            }
        }
        if !layers.delta.isEmpty { add(layers.delta, of: layers) }
    }

    /// Chooses the levels. Returns, by word of slots, which of the base's nodes they show without a delta.
    private mutating func choose(
        _ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>, mostNodes: Int, mostPoints: Int
    ) -> [UInt64] {
        let layout = spatial.layout
        var bits = [UInt64](repeating: 0, count: layout.wordCount)
        var (nodes, points) = (0, 0)
        while levels < layout.levels {
            let first = levels * layout.wordCount
            nodes += bits.indices.reduce(0) {
                $0 + (spatial.alive[first + $1] & ~bits[$1]).nonzeroBitCount
            }
            if !layers.delta.isEmpty {
                let entries = layers.delta.levels[levels].entries
                nodes += entries.count
                points += entries.indices.count { !entries[$0].key.isCluster }
            }
            guard nodes <= mostNodes else { break }
            var more = bits
            for word in more.indices {
                let added = spatial.alive[first + word] & ~bits[word]
                Self.forEach(added, of: word) {
                    points += Int(spatial.slots[$0].node) < layout.pointCount ? 1 : 0
                }
                more[word] |= added
            }
            guard points <= mostPoints else { break }
            bits = more
            levels += 1
        }
        return bits
    }

    private func entry(
        _ slot: SpatialSlot<Scalar>, _ number: Int, _ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>
    ) -> Entry {
        let key = layers.key(ofBase: slot.node)
        var mask: UInt32 = 0
        for level in 0..<levels {
            let bit = spatial.alive[level * spatial.layout.wordCount + number / 64] >> UInt64(number % 64) & 1
            if bit != 0, !layers.delta.hides(key, at: level + layers.options.minimumZoom) {
                mask |= 1 << UInt32(level)
            }
        }
        return Entry(key: key, x: slot.x, y: slot.y, mask: mask)
    }

    /// Adds the nodes that the delta shows in addition, and sorts all as answers are.
    private mutating func add(_ delta: IndexDelta, of layers: LayeredIndex) {
        var indexes: [UInt32: Int] = [:]
        for (index, node) in nodes.enumerated() { indexes[node.key.rawValue] = index }
        for level in 0..<levels {
            let entries = delta.levels[level].entries
            for entry in entries.indices.map({ entries[$0] }) {
                if let known = indexes[entry.key.rawValue] {
                    // The same node: the base shows it at other levels.
                    nodes[known].mask |= 1 << UInt32(level)
                    continue
                }
                indexes[entry.key.rawValue] = nodes.count
                nodes.append(
                    Entry(
                        key: entry.key, x: Scalar(entry.x), y: Scalar(entry.y), mask: 1 << UInt32(level)))
            }
        }
        let ranked = nodes.map { (rank: layers.rank($0.key, $0.x, $0.y), node: $0) }
        nodes = ranked.sorted { $0.rank < $1.rank }.map(\.node)
    }

    private static func forEach(_ bits: UInt64, of word: Int, _ body: (Int) -> Void) {
        var bits = bits
        while bits != 0 {
            body(word * 64 + bits.trailingZeroBitCount)
            bits &= bits - 1
        }
    }

    /// By level, then word: which of the nodes are shown.
    var alive: [UInt64] {
        let words = (nodes.count + 63) / 64
        var alive = [UInt64](repeating: 0, count: levels * words)
        for (index, node) in nodes.enumerated() {
            for level in 0..<levels where node.mask >> UInt32(level) & 1 != 0 {
                alive[level * words + index / 64] |= 1 << UInt64(index % 64)
            }
        }
        return alive
    }
}
