// SPDX-License-Identifier: MIT

/// The nodes alive at a level that has few of them, side by side along the curve, under a tree of boxes: what a map
/// of a low zoom shows lies in a few lines of memory, and not one node in each of hundreds of words.
struct SparseLevel<Scalar: Coordinate>: Sendable {
    private let slots: Column<SpatialSlot<Scalar>>
    /// The extents of 16, 256 and 4,096 slots.
    private let blockBoxes: Column<SpatialBox>
    private let groupBoxes: Column<SpatialBox>
    private let regionBoxes: Column<SpatialBox>

    /// Slots of a block, blocks of a group, groups of a region.
    static var fanOut: Int { 16 }

    /// - Parameters:
    ///   - count: how many nodes are alive.
    ///   - alive: a word of bits for each 64 of `all`.
    init(count: Int, of all: Column<SpatialSlot<Scalar>>, alive: UnsafeBufferPointer<UInt64>) {
        let gathered = Scratch<SpatialSlot<Scalar>>(capacity: count)
        let boxes = Scratch(repeating: SpatialBox.empty, count: Self.quotient(count))
        var place = 0
        for word in alive.indices {
            var bits = alive[word]
            while bits != 0 {
                let number = word * 64 + bits.trailingZeroBitCount
                bits &= bits &- 1
                // A damaged snapshot's bits may name nodes that there are not: they are looked at before validation.
                guard place < count, number < all.count else { break }
                let slot = all[number]
                gathered.base[place] = slot
                boxes.base[place / Self.fanOut].include(x: slot.x, y: slot.y)
                place += 1
            }
        }
        slots = gathered.finish(count: place)
        blockBoxes = boxes.finish(count: Self.quotient(place))
        groupBoxes = Self.extents(of: blockBoxes)
        regionBoxes = Self.extents(of: groupBoxes)
    }

    private static func quotient(_ count: Int) -> Int { (count + fanOut - 1) / fanOut }

    private static func extents(of lower: Column<SpatialBox>) -> Column<SpatialBox> {
        let count = quotient(lower.count)
        let boxes = Scratch(repeating: SpatialBox.empty, count: count)
        for place in 0..<lower.count { boxes.base[place / fanOut].include(lower[place]) }
        return boxes.finish(count: count)
    }

    var memoryBytes: Int {
        slots.memoryBytes + blockBoxes.memoryBytes + groupBoxes.memoryBytes + regionBoxes.memoryBytes
    }

    /// Calls `body` with the slots of each block whose extent meets a box, in the curve's order, until it says no.
    ///
    /// - Returns: false where `body` said no.
    /// - Complexity: O(regions + what the box meets).
    @inline(__always) func visitBlocks(
        _ bounds: SpatialBounds, _ body: (UnsafeBufferPointer<SpatialSlot<Scalar>>) -> Bool
    ) -> Bool {
        for region in 0..<regionBoxes.count where regionBoxes[region].meets(bounds) {
            let groups = region * Self.fanOut..<min((region + 1) * Self.fanOut, groupBoxes.count)
            for group in groups where groupBoxes[group].meets(bounds) {
                let blocks = group * Self.fanOut..<min((group + 1) * Self.fanOut, blockBoxes.count)
                for block in blocks where blockBoxes[block].meets(bounds) {
                    let start = block * Self.fanOut
                    let count = min(Self.fanOut, slots.count - start)
                    guard body(UnsafeBufferPointer(start: slots.base + start, count: count)) else {
                        return false
                    }
                }
            }
        }
        return true
    }

    /// Appends the nodes inside a box, in the curve's order.
    ///
    /// - Parameter limit: the greatest count of `found`; where there are more the answer is true.
    func collect(_ box: UnitBox, limit: Int, pointCount: Int, into found: inout [Node]) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.fanOut) { inside in
            !visitBlocks(SpatialBounds(box)) { block in
                var kept = 0
                // Without a branch: which of a block's nodes are inside no processor can guess.
                for slot in block {
                    inside[kept] = slot.node
                    kept &+= box.count(Double(slot.x), Double(slot.y))
                }
                let room = max(0, limit - found.count)
                for place in 0..<min(kept, room) {
                    found.append(Node(number: inside[place], pointCount: pointCount))
                }
                return kept <= room
            }
        }
    }
}

extension SparseLevel {
    /// The lowest levels, as many as have few nodes together.
    ///
    /// - Parameters:
    ///   - counts: how many nodes are alive, by level.
    ///   - alive: by level, then word.
    static func lowest(
        _ layout: SpatialLayout, _ counts: [Int], _ slots: Column<SpatialSlot<Scalar>>,
        _ alive: Column<UInt64>
    ) -> [SparseLevel] {
        var left = layout.nodeCount / share
        var levels: [SparseLevel] = []
        for (level, count) in counts.enumerated() {
            left -= count
            guard left >= 0 else { break }
            let words = UnsafeBufferPointer(
                start: alive.base + level * layout.wordCount, count: layout.wordCount)
            levels.append(SparseLevel(count: count, of: slots, alive: words))
        }
        return levels
    }

    /// An eighth of all nodes are held twice at the most: some two bytes of memory to each point.
    private static var share: Int { 8 }
}
