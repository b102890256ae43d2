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
        let shown = choose(layers, spatial, mostNodes: mostNodes, mostPoints: mostPoints)
        for slot in shown {
            let entry = entry(spatial.slots[slot], slot, layers, spatial)
            if entry.mask != 0 { nodes.append(entry) }
        }
        if !layers.delta.isEmpty { add(layers.delta, of: layers) }
    }

    /// Chooses the levels. Returns the slots, ascending, of the base's nodes that they show without a delta.
    private mutating func choose(
        _ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>, mostNodes: Int, mostPoints: Int
    ) -> [Int] {
        var shown: [Int] = []
        var (nodes, points) = (0, 0)
        while levels < spatial.layout.levels {
            if !layers.delta.isEmpty {
                let entries = layers.delta.levels[levels].entries
                nodes += entries.count
                points += entries.indices.count { !entries[$0].key.isCluster }
            }
            guard nodes <= mostNodes, points <= mostPoints,
                let added = added(
                    spatial, to: shown, most: mostNodes - nodes, mostPoints: mostPoints - points)
            else { break }
            nodes += added.slots.count
            points += added.points
            shown = Self.merged(shown, added.slots)
            levels += 1
        }
        return shown
    }

    /// The slots of the base's nodes that the next level shows and the ones before do not, ascending; nil if there are more than so
    /// many, or more points among them. Reads only words that have some.
    private func added(
        _ spatial: SpatialIndex<Scalar>, to shown: [Int], most: Int, mostPoints: Int
    ) -> (slots: [Int], points: Int)? {
        let layout = spatial.layout
        var slots: [Int] = []
        var (points, next) = (0, 0)
        for group in 0..<layout.groupCount {
            var words = spatial.aliveWords[levels * layout.groupCount + group]
            while words != 0 {
                let word = group * 64 + words.trailingZeroBitCount
                words &= words - 1
                var bits = spatial.alive[levels * layout.wordCount + word]
                while bits != 0 {
                    let slot = word * 64 + bits.trailingZeroBitCount
                    bits &= bits - 1
                    while next < shown.count, shown[next] < slot { next += 1 }
                    if next < shown.count, shown[next] == slot { continue }
                    slots.append(slot)
                    points += Int(spatial.slots[slot].node) < layout.pointCount ? 1 : 0
                    guard slots.count <= most, points <= mostPoints else { return nil }
                }
            }
        }
        return (slots, points)
    }

    /// Two ascending lists as one.
    private static func merged(_ one: [Int], _ other: [Int]) -> [Int] {
        guard !one.isEmpty else { return other }
        var all: [Int] = []
        all.reserveCapacity(one.count + other.count)
        var next = 0
        for value in one {
            while next < other.count, other[next] < value {
                all.append(other[next])
                next += 1
            }
            all.append(value)
        }
        return all + other[next...]
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
