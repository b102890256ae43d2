// SPDX-License-Identifier: MIT

/// Keeps apart what a part of a level decides for certain and what depends on nodes that it does not know.
///
/// A part is clustered as if its nodes were all there are. What becomes of a node follows from its earlier neighbours
/// alone, so most results are right nevertheless. `mark` finds those that may not be, zoom by zoom:
///
/// - a node is **open** if a neighbour that nobody knows, or an open one, comes before it and before the node that claimed
///   it;
/// - a claimant is **unsure** if an open node is within its reach, so that nobody knows its cluster's centre;
/// - either leaves a **ghost** to the next zoom: a place with a reach in which some node is, in an order that is known.
///
/// A part has done its work if no node that it owns was ever open or unsure. All that is marked errs on the safe side.
final class LevelBorder<Scalar: Coordinate> {
    private struct Ghost {
        var x: Double
        var y: Double
        /// How far from there the node may be.
        var slack: Double
        var order: UInt32
        var partition: UInt32
    }

    /// Whether a node that the part owns depends on what it does not know.
    private(set) var isOpen = false
    /// The edges within which all nodes are known.
    private var (west, north, east, south): (Double, Double, Double, Double)
    private var ghosts: [Ghost] = []
    /// By node: whether it may not exist, or be elsewhere.
    private let isUncertain: Scratch<UInt8>
    /// By order: whether the part owns the node of the first level.
    private let isOwned: Scratch<UInt8>
    /// By position in the list: `open` or `unsure`.
    private let marks: Scratch<UInt8>
    private var marked: [Int] = []
    private var budget = 0

    private static var open: UInt8 { 1 }
    private static var unsure: UInt8 { 2 }

    init(_ part: LevelPart, isOwned: Scratch<UInt8>, count: Int) {
        // Nothing lies beyond the unit square.
        west = part.west - part.margin > 0 ? part.west - part.margin : -.infinity
        north = part.north - part.margin > 0 ? part.north - part.margin : -.infinity
        east = part.east + part.margin < 1 ? part.east + part.margin : .infinity
        south = part.south + part.margin < 1 ? part.south + part.margin : .infinity
        isUncertain = Scratch(repeating: 0, count: 2 * count)
        marks = Scratch(repeating: 0, count: count)
        self.isOwned = isOwned
    }

    /// Marks the nodes of a level whose claims are known.
    ///
    /// Goes through ghosts and open nodes in order. When one is met, all that come before it are decided.
    ///
    /// - Complexity: O(nodes), and O(neighbours) for each ghost and each open node.
    func mark(
        _ list: LevelList<Scalar>, states: Scratch<UInt8>, claimants: Scratch<UInt32>, radius: LevelRadius<Scalar>
    ) {
        let reach = (Double(radius.reach) + 2 * Scalar.roundingSlack) * (1 + 1e-6)
        budget = 64 * (list.count + 1024)
        var queue = GhostQueue()
        for position in 0..<list.count where isNearEdge(list.entries[position], reach) {
            open(position, list, &queue)
        }
        for (index, ghost) in ghosts.enumerated() { queue.push(order: ghost.order, item: -1 - index) }
        while let (order, item) = queue.pop(), !isOpen {
            let source = item < 0 ? ghosts[-1 - item] : ghost(at: item, list, slack: 0)
            spread(source, order, reach, list, states, claimants, &queue)
        }
        if isOpen { return }
        for index in ghosts.indices { ghosts[index].slack += reach }
        for position in marked {
            ghosts.append(ghost(at: position, list, slack: reach))
            isUncertain.base[Int(list.entries[position].node)] = 1
            marks.base[position] = 0
        }
        marked.removeAll(keepingCapacity: true)
        (west, north, east, south) = (west + reach, north + reach, east - reach, south - reach)
    }

    /// Takes over the marks of the nodes from which new clusters grew.
    func note(_ ordinals: Range<Int>, of table: ClusterTable) {
        for ordinal in ordinals {
            let origin = table.children.base[Int(table.childStarts.base[ordinal])]
            isUncertain.base[table.pointCount + ordinal] = isUncertain.base[Int(origin)]
        }
    }

    private func isNearEdge(_ entry: LevelEntry<Scalar>, _ reach: Double) -> Bool {
        let (x, y) = (Double(entry.x), Double(entry.y))
        return x - reach < west || x + reach > east || y - reach < north || y + reach > south
    }

    private func ghost(at position: Int, _ list: LevelList<Scalar>, slack: Double) -> Ghost {
        let entry = list.entries[position]
        return Ghost(
            x: Double(entry.x), y: Double(entry.y), slack: slack, order: entry.order,
            partition: list.partitions?[Int(entry.node)] ?? 0)
    }

    private func open(_ position: Int, _ list: LevelList<Scalar>, _ queue: inout GhostQueue) {
        let entry = list.entries[position]
        // A ghost stands for it.
        guard isUncertain.base[Int(entry.node)] == 0, marks.base[position] != Self.open else { return }
        note(position, Self.open, entry)
        queue.push(order: entry.order, item: position)
    }

    private func note(_ position: Int, _ mark: UInt8, _ entry: LevelEntry<Scalar>) {
        if marks.base[position] == 0 { marked.append(position) }
        marks.base[position] = mark
        if isOwned.base[Int(entry.order)] != 0 { isOpen = true }
    }

    /// Marks what depends on a ghost or an open node.
    private func spread(
        _ source: Ghost, _ order: UInt32, _ reach: Double, _ list: LevelList<Scalar>, _ states: Scratch<UInt8>,
        _ claimants: Scratch<UInt32>, _ queue: inout GhostQueue
    ) {
        let distance = reach + source.slack
        list.visit(aroundX: source.x, y: source.y, distance: distance, partition: source.partition) { position in
            budget -= 1
            // A crowd: this would take longer than to cluster it.
            if budget < 0 { isOpen = true }
            let entry = list.entries[position]
            let (dx, dy) = (Double(entry.x) - source.x, Double(entry.y) - source.y)
            guard !isOpen, dx * dx + dy * dy <= distance * distance, entry.order != order,
                isUncertain.base[Int(entry.node)] == 0
            else { return !isOpen }
            let isClaimed = states.base[position] == ClaimState.claimed
            if entry.order < order {
                // It is decided, and claims the node if that is there.
                if !isClaimed, marks.base[position] == 0 { note(position, Self.unsure, entry) }
            } else if marks.base[position] != Self.open {
                if isClaimed, isCertain(Int(claimants.base[position]), before: order, list) { return true }
                open(position, list, &queue)
            }
            return !isOpen
        }
    }

    /// Whether a claimant is one for certain, and comes before what may claim the node too.
    private func isCertain(_ claimant: Int, before order: UInt32, _ list: LevelList<Scalar>) -> Bool {
        let entry = list.entries[claimant]
        return entry.order < order && isUncertain.base[Int(entry.node)] == 0 && marks.base[claimant] != Self.open
    }
}

/// Items by order, the least first: a binary heap.
private struct GhostQueue {
    private var items: [(order: UInt32, item: Int)] = []

    mutating func push(order: UInt32, item: Int) {
        var index = items.count
        items.append((order, item))
        while index > 0, items[(index - 1) / 2].order > order {
            items.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func pop() -> (order: UInt32, item: Int)? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return first }
        items[0] = last
        var index = 0
        while 2 * index + 1 < items.count {
            var child = 2 * index + 1
            if child + 1 < items.count, items[child + 1].order < items[child].order { child += 1 }
            if items[child].order >= items[index].order { break }
            items.swapAt(child, index)
            index = child
        }
        return first
    }
}
