// SPDX-License-Identifier: MIT
import SystemSupport

/// The nodes alive at a level that has few of them, contiguous along the curve, under a tree of boxes. What a
/// map of a low zoom shows then occupies a few cache lines, instead of one node in each of hundreds of words.
///
/// Invariant: `positions` has 16 x and then 16 y for each block of `blockBoxes`, and `numbers` has the block's
/// 16 nodes. After the last node the positions are NaN, which no box contains.
final class PackedTree: Sendable {
    let positions: Column<Float>
    let numbers: Column<UInt32>
    /// The extents of 16, 256 and 4,096 nodes.
    let blockBoxes: Column<SpatialBox>
    let groupBoxes: Column<SpatialBox>
    let regionBoxes: Column<SpatialBox>
    /// The number of nodes.
    let count: Int

    /// Nodes per block, blocks per group, groups per region.
    static var fanOut: Int { 16 }

    /// How many boxes there are of each size.
    struct Shape {
        var count: Int
        var blocks: Int
        var groups: Int
        var regions: Int

        init(count: Int) {
            self.count = count
            blocks = PackedTree.quotient(count)
            groups = PackedTree.quotient(blocks)
            regions = PackedTree.quotient(groups)
        }

        mutating func add(_ other: Shape) {
            count += other.count
            blocks += other.blocks
            groups += other.groups
            regions += other.regions
        }
    }

    /// A tree on columns that another one had.
    init(
        count: Int, positions: Column<Float>, numbers: Column<UInt32>, blockBoxes: Column<SpatialBox>,
        groupBoxes: Column<SpatialBox>, regionBoxes: Column<SpatialBox>
    ) {
        (self.count, self.positions, self.numbers) = (count, positions, numbers)
        (self.blockBoxes, self.groupBoxes, self.regionBoxes) = (blockBoxes, groupBoxes, regionBoxes)
    }

    /// - Parameters:
    ///   - count: the number of nodes alive.
    ///   - alive: bits by slot, one word per 64 of `slots`.
    init(count: Int, of slots: Column<SpatialSlot<Float>>, alive: UnsafeBufferPointer<UInt64>) {
        self.count = count
        let blocks = Self.quotient(count)
        let gathered = Scratch<Float>(repeating: .nan, count: blocks * Self.fanOut * 2)
        let nodes = Scratch<UInt32>(repeating: 0, count: blocks * Self.fanOut)
        let boxes = Scratch(repeating: SpatialBox.empty, count: blocks)
        var index = 0
        for word in alive.indices {
            var bits = alive[word]
            while bits != 0 {
                let number = word * 64 + bits.trailingZeroBitCount
                bits &= bits &- 1
                let slot = slots[number]
                let (block, offset) = (index / Self.fanOut, index % Self.fanOut)
                gathered.base[block * 2 * Self.fanOut + offset] = slot.x
                gathered.base[(block * 2 + 1) * Self.fanOut + offset] = slot.y
                nodes.base[index] = slot.node
                boxes.base[block].include(x: slot.x, y: slot.y)
                index += 1
            }
        }
        positions = gathered.finish(count: blocks * Self.fanOut * 2)
        numbers = nodes.finish(count: blocks * Self.fanOut)
        blockBoxes = boxes.finish(count: blocks)
        groupBoxes = Self.extents(of: blockBoxes)
        regionBoxes = Self.extents(of: groupBoxes)
    }

    private static func quotient(_ count: Int) -> Int { (count + fanOut - 1) / fanOut }

    private static func extents(of lower: Column<SpatialBox>) -> Column<SpatialBox> {
        let count = quotient(lower.count)
        let boxes = Scratch(repeating: SpatialBox.empty, count: count)
        for index in 0..<lower.count { boxes.base[index / fanOut].include(lower[index]) }
        return boxes.finish(count: count)
    }

    var memoryBytes: Int {
        positions.memoryBytes + numbers.memoryBytes + blockBoxes.memoryBytes + groupBoxes.memoryBytes
            + regionBoxes.memoryBytes
    }

    /// Appends the nodes inside a box, in the curve's order.
    ///
    /// - Parameter limit: the maximum count of `found`; the result is true if there are more.
    /// - Complexity: O(regions + blocks that the box meets).
    func collect(_ box: UnitBox, limit: Int, pointCount: Int, into found: inout [Node]) -> Bool {
        let edges = Edges(box)
        return withUnsafeTemporaryAllocation(of: Node.self, capacity: Self.fanOut) { memory in
            !visitBlocks(SpatialBounds(box)) { block in
                var inside = mask(of: block, edges)
                let room = limit - found.count
                let isWhole = inside.nonzeroBitCount <= room
                var count = 0
                while inside != 0, count < room {
                    let number = numbers[block &* Self.fanOut &+ inside.trailingZeroBitCount]
                    inside &= inside &- 1
                    memory[count] = Node(number: number, pointCount: pointCount)
                    count &+= 1
                }
                if count > 0 { found.append(contentsOf: UnsafeBufferPointer(rebasing: memory[..<count])) }
                return isWhole
            }
        }
    }

    /// Calls `body` with the position and the number of each node inside a box, in the curve's order.
    @inline(__always) func visit(_ box: UnitBox, _ body: (_ x: Float, _ y: Float, _ node: UInt32) -> Void) {
        let edges = Edges(box)
        _ = visitBlocks(SpatialBounds(box)) { block in
            var inside = mask(of: block, edges)
            let first = block &* Self.fanOut
            let (x, y) = (positions.base + 2 &* first, positions.base + (2 &* first &+ Self.fanOut))
            while inside != 0 {
                let offset = inside.trailingZeroBitCount
                inside &= inside &- 1
                body(x[offset], y[offset], numbers[first &+ offset])
            }
            return true
        }
    }

    /// Calls `body` with each block whose extent meets a box, in the curve's order, until it returns false.
    ///
    /// - Returns: false if `body` returned false.
    @inline(__always) private func visitBlocks(_ bounds: SpatialBounds, _ body: (Int) -> Bool) -> Bool {
        for region in 0..<regionBoxes.count where regionBoxes[region].meets(bounds) {
            let groups = region * Self.fanOut..<min((region + 1) * Self.fanOut, groupBoxes.count)
            for group in groups where groupBoxes[group].meets(bounds) {
                let blocks = group * Self.fanOut..<min((group + 1) * Self.fanOut, blockBoxes.count)
                for block in blocks where blockBoxes[block].meets(bounds) {
                    guard body(block) else { return false }
                }
            }
        }
        return true
    }

    /// A box's edges in the form in which they are compared with a block's positions: the next floats inside
    /// the box, four times each.
    private struct Edges {
        let left: SIMD4<Float>
        let top: SIMD4<Float>
        let right: SIMD4<Float>
        let bottom: SIMD4<Float>

        init(_ box: UnitBox) {
            left = SIMD4(repeating: SpatialBounds.up(box.minimumX))
            top = SIMD4(repeating: SpatialBounds.up(box.minimumY))
            right = SIMD4(repeating: SpatialBounds.down(box.maximumX))
            bottom = SIMD4(repeating: SpatialBounds.down(box.maximumY))
        }
    }

    /// Returns which of a block's nodes are inside, as a bit each. It has no branch, because a processor
    /// could not predict it.
    @inline(__always) private func mask(of block: Int, _ edges: Edges) -> UInt32 {
        let base = UnsafeRawPointer(positions.base + block &* 2 &* Self.fanOut)
        var found = SIMD4<Int32>.zero
        var bits = SIMD4<Int32>(1, 2, 4, 8)
        for quarter in 0..<4 {
            let x = base.loadUnaligned(fromByteOffset: quarter &* 16, as: SIMD4<Float>.self)
            let y = base.loadUnaligned(fromByteOffset: (quarter &+ 4) &* 16, as: SIMD4<Float>.self)
            let isInside = (x .>= edges.left) .& (x .<= edges.right) .& (y .>= edges.top) .& (y .<= edges.bottom)
            found |= SIMD4<Int32>.zero.replacing(with: bits, where: isInside)
            bits = bits &<< 4
        }
        let halves = found.lowHalf | found.highHalf
        return UInt32(truncatingIfNeeded: halves[0] | halves[1])
    }
}

extension PackedTree {
    /// Packs the lowest levels, as many as have few nodes together.
    ///
    /// - Parameters:
    ///   - counts: the number of nodes alive, by level.
    ///   - alive: bits by level, then word.
    static func lowest<Scalar: Coordinate>(
        _ layout: SpatialLayout, _ counts: [Int], _ slots: Column<SpatialSlot<Scalar>>,
        _ alive: Column<UInt64>, parallel: Parallel
    ) -> [PackedTree] {
        // Few sources choose 64-bit positions.
        guard let slots = slots as Any as? Column<SpatialSlot<Float>> else { return [] }
        var left = layout.nodeCount / share
        let small = counts.prefix { count in
            left -= count
            return left >= 0
        }
        var levels = [PackedTree?](repeating: nil, count: small.count)
        levels.withUnsafeMutableBufferPointer { levels in
            let levels = Unchecked(levels)
            parallel.run(small.count) { level in
                let words = UnsafeBufferPointer(start: alive.base + level * layout.wordCount, count: layout.wordCount)
                levels.value[level] = PackedTree(count: small[level], of: slots, alive: words)
            }
        }
        return levels.compactMap(\.self)
    }

    /// At most an eighth of all nodes are stored twice: about two bytes of memory per point.
    private static var share: Int { 8 }
}
