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
/// What is not marked is certain: who claims a node, and which nodes a claimant claims. All that is marked errs on the
/// safe side.
final class LevelBorder<Scalar: Coordinate> {
    private struct Ghost {
        var x: Double
        var y: Double
        /// How far from there the node may be.
        var slack: Double
        var order: UInt32
        var partition: UInt32
    }

    /// A node of which a zoom cannot be decided here.
    struct Opening {
        /// The node of the first level from which it grew.
        var origin: UInt32
        var node: UInt32
        var zoom: UInt8
    }

    /// Of the nodes that grew from one that the part owns: those that were marked, the deepest zoom first, those of a zoom
    /// in order.
    private(set) var openings: [Opening] = []
    /// By node of the first level: one more than the zoom at which what grew from it was marked; 0: at none.
    let marked: Scratch<UInt8>
    /// Whether nothing is certain any more.
    private(set) var isExhausted = false
    /// The edges within which all nodes are known.
    private var (west, north, east, south): (Double, Double, Double, Double)
    private let holes: [LevelRectangle]
    /// How far beyond the holes nodes are unknown.
    private var growth = 0.0
    private var ghosts: [Ghost] = []
    /// By node: whether it may not exist, or be elsewhere.
    private let isUncertain: Scratch<UInt8>
    /// By order: whether the part owns the node of the first level.
    private let isOwned: Scratch<UInt8>
    /// By position in the list: `open` or `unsure`.
    private let marks: Scratch<UInt8>
    private var positions: [Int] = []
    private var budget = 0

    private static var open: UInt8 { 1 }
    private static var unsure: UInt8 { 2 }

    init(_ part: LevelPart, isOwned: Scratch<UInt8>, count: Int) {
        let (area, margin) = (part.area, part.margin)
        // Nothing lies beyond the unit square.
        west = area.west - margin > 0 ? area.west - margin : -.infinity
        north = area.north - margin > 0 ? area.north - margin : -.infinity
        east = area.east + margin < 1 ? area.east + margin : .infinity
        south = area.south + margin < 1 ? area.south + margin : .infinity
        holes = part.holes
        isUncertain = Scratch(repeating: 0, count: 2 * count)
        marks = Scratch(repeating: 0, count: count)
        marked = Scratch(repeating: 0, count: count)
        self.isOwned = isOwned
    }

    /// Marks the nodes of a level whose claims are known.
    ///
    /// Goes through ghosts and open nodes in order. When one is met, all that come before it are decided.
    ///
    /// - Complexity: O(nodes), and O(neighbours) for each ghost and each open node.
    func mark(
        _ list: LevelList<Scalar>, states: Scratch<UInt8>, claimants: Scratch<UInt32>, radius: LevelRadius<Scalar>,
        zoom: Int
    ) {
        let reach = (Double(radius.reach) + 2 * Scalar.roundingSlack) * (1 + 1e-6)
        budget = Self.visitsOfNode * (list.count + 1024)
        var queue = GhostQueue()
        for position in 0..<list.count where isNearEdge(list.entries[position], reach) {
            open(position, list, &queue)
        }
        for (index, ghost) in ghosts.enumerated() { queue.push(order: ghost.order, item: -1 - index) }
        while let (order, item) = queue.pop(), budget >= 0 {
            let source = item < 0 ? ghosts[-1 - item] : ghost(at: item, list, slack: 0)
            spread(source, order, reach, list, states, claimants, &queue)
        }
        if budget < 0 {
            // To follow what is open would take longer than to decide it elsewhere.
            isExhausted = true
            for position in 0..<list.count where isUncertain.base[Int(list.entries[position].node)] == 0 {
                note(position, Self.open)
            }
        }
        keepMarked(list, zoom: zoom)
        if isExhausted { return }
        for index in ghosts.indices { ghosts[index].slack += reach }
        for position in positions {
            ghosts.append(ghost(at: position, list, slack: reach))
            isUncertain.base[Int(list.entries[position].node)] = 1
            marks.base[position] = 0
        }
        positions.removeAll(keepingCapacity: true)
        (west, north, east, south) = (west + reach, north + reach, east - reach, south - reach)
        growth += reach
    }

    /// How many neighbours of ghosts and open nodes are looked at for each node of a level.
    private static var visitsOfNode: Int { 64 }

    /// Keeps what is marked at a zoom.
    private func keepMarked(_ list: LevelList<Scalar>, zoom: Int) {
        let first = openings.count
        for position in positions {
            let entry = list.entries[position]
            marked.base[Int(entry.order)] = UInt8(truncatingIfNeeded: zoom + 1)
            guard isOwned.base[Int(entry.order)] != 0 else { continue }
            openings.append(
                Opening(origin: entry.order, node: entry.node, zoom: UInt8(truncatingIfNeeded: zoom)))
        }
        openings[first...].sort { $0.origin < $1.origin }
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
        if x - reach < west || x + reach > east || y - reach < north || y + reach > south { return true }
        return holes.contains { hole in
            x + reach > hole.west - growth && x - reach < hole.east + growth && y + reach > hole.north - growth
                && y - reach < hole.south + growth
        }
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
        note(position, Self.open)
        queue.push(order: entry.order, item: position)
    }

    private func note(_ position: Int, _ mark: UInt8) {
        if marks.base[position] == 0 { positions.append(position) }
        marks.base[position] = mark
    }

    /// Marks what depends on a ghost or an open node.
    private func spread(
        _ source: Ghost, _ order: UInt32, _ reach: Double, _ list: LevelList<Scalar>, _ states: Scratch<UInt8>,
        _ claimants: Scratch<UInt32>, _ queue: inout GhostQueue
    ) {
        let distance = reach + source.slack
        list.visit(aroundX: source.x, y: source.y, distance: distance, partition: source.partition) { position in
            budget -= 1
            let entry = list.entries[position]
            let (dx, dy) = (Double(entry.x) - source.x, Double(entry.y) - source.y)
            guard dx * dx + dy * dy <= distance * distance, entry.order != order,
                isUncertain.base[Int(entry.node)] == 0
            else { return budget >= 0 }
            let isClaimed = states.base[position] == ClaimState.claimed
            if entry.order < order {
                // It is decided, and claims the node if that is there.
                if !isClaimed, marks.base[position] == 0 { note(position, Self.unsure) }
            } else if marks.base[position] != Self.open {
                if isClaimed, isCertain(Int(claimants.base[position]), before: order, list) { return true }
                open(position, list, &queue)
            }
            return budget >= 0
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
