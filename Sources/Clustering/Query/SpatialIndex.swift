// SPDX-License-Identifier: MIT

/// Sizes of a spatial index's arrays: one bit a node and level, in words of 64 nodes, groups of 64 words.
struct SpatialLayout: Sendable {
    let pointCount: Int
    let nodeCount: Int
    let minimumZoom: Int
    let levels: Int
    var wordCount: Int { (nodeCount + 63) / 64 }
    var groupCount: Int { (wordCount + 63) / 64 }
}

/// The extent of some nodes in the unit square, rounded outwards to floats.
struct SpatialBox: BitwiseCopyable, Sendable {
    var minimumX: Float
    var minimumY: Float
    var maximumX: Float
    var maximumY: Float

    static let empty = SpatialBox(minimumX: 2, minimumY: 2, maximumX: -1, maximumY: -1)

    @inline(__always) mutating func include<Scalar: Coordinate>(x: Scalar, y: Scalar) {
        let (nearX, nearY) = (Float(x), Float(y))
        minimumX = min(minimumX, Scalar.self == Float.self ? nearX : nearX.nextDown)
        maximumX = max(maximumX, Scalar.self == Float.self ? nearX : nearX.nextUp)
        minimumY = min(minimumY, Scalar.self == Float.self ? nearY : nearY.nextDown)
        maximumY = max(maximumY, Scalar.self == Float.self ? nearY : nearY.nextUp)
    }

    @inline(__always) mutating func include(_ other: SpatialBox) {
        minimumX = min(minimumX, other.minimumX)
        minimumY = min(minimumY, other.minimumY)
        maximumX = max(maximumX, other.maximumX)
        maximumY = max(maximumY, other.maximumY)
    }

    /// A box's extent, rounded outwards.
    @inline(__always) init(around box: UnitBox) {
        minimumX = Float(box.minimumX).nextDown
        minimumY = Float(box.minimumY).nextDown
        maximumX = Float(box.maximumX).nextUp
        maximumY = Float(box.maximumY).nextUp
    }

    private init(minimumX: Float, minimumY: Float, maximumX: Float, maximumY: Float) {
        self.minimumX = minimumX
        self.minimumY = minimumY
        self.maximumX = maximumX
        self.maximumY = maximumY
    }

    @inline(__always) func meets(_ other: SpatialBox) -> Bool {
        minimumX <= other.maximumX && maximumX >= other.minimumX
            && minimumY <= other.maximumY && maximumY >= other.minimumY
    }
}

/// A box of the unit square, its edges included.
struct UnitBox {
    var minimumX: Double
    var minimumY: Double
    var maximumX: Double
    var maximumY: Double
}

/// A node's place and number, together since they are read together.
struct SpatialSlot<Scalar: Coordinate>: BitwiseCopyable, Sendable {
    var x: Scalar
    var y: Scalar
    var node: UInt32
}

/// All nodes of an index along a Z-order curve, with the levels at which each is alive, so that one set of
/// coordinates serves every zoom.
///
/// Invariant: the columns have the layout's sizes; every slot's node is one of the index; a bit
/// past the last node is never set.
struct SpatialIndex<Scalar: Coordinate>: Sendable {
    let layout: SpatialLayout
    let slots: Column<SpatialSlot<Scalar>>
    /// By level, then word: which of the word's nodes are alive.
    let alive: Column<UInt64>
    let wordBoxes: Column<SpatialBox>
    /// The extents of 8, 64, 512 and 4,096 words: a tree of boxes over the curve.
    private let eighthBoxes: Column<SpatialBox>
    private let groupBoxes: Column<SpatialBox>
    private let districtBoxes: Column<SpatialBox>
    private let regionBoxes: Column<SpatialBox>
    /// By level, then group: which of the group's words have a node alive.
    let aliveWords: Column<UInt64>

    init(
        layout: SpatialLayout, slots: Column<SpatialSlot<Scalar>>, alive: Column<UInt64>,
        wordBoxes: Column<SpatialBox>
    ) {
        self.layout = layout
        self.slots = slots
        self.alive = alive
        self.wordBoxes = wordBoxes
        eighthBoxes = Self.extents(ofEight: wordBoxes)
        groupBoxes = Self.extents(ofEight: eighthBoxes)
        districtBoxes = Self.extents(ofEight: groupBoxes)
        regionBoxes = Self.extents(ofEight: districtBoxes)
        let words = Scratch(repeating: UInt64(0), count: max(1, layout.levels * layout.groupCount))
        for level in 0..<layout.levels {
            for word in 0..<layout.wordCount where alive[level * layout.wordCount + word] != 0 {
                words.base[level * layout.groupCount + word / 64] |= UInt64(1) << UInt64(word % 64)
            }
        }
        aliveWords = words.finish(count: layout.levels * layout.groupCount)
    }

    private static func extents(ofEight lower: Column<SpatialBox>) -> Column<SpatialBox> {
        let count = (lower.count + 7) / 8
        let boxes = Scratch(repeating: SpatialBox.empty, count: max(1, count))
        for place in 0..<lower.count { boxes.base[place / 8].include(lower[place]) }
        return boxes.finish(count: count)
    }

    var memoryBytes: Int {
        slots.memoryBytes + alive.memoryBytes + wordBoxes.memoryBytes + aliveWords.memoryBytes
            + eighthBoxes.memoryBytes + groupBoxes.memoryBytes + districtBoxes.memoryBytes
            + regionBoxes.memoryBytes
    }

    /// Appends the nodes alive at a zoom inside a box, in the curve's order.
    ///
    /// - Parameter limit: the greatest count of `found`; where there are more the answer is true.
    /// - Complexity: O(groups + words of 64 nodes that the box meets + answers).
    func collect(_ box: UnitBox, zoom: Int, limit: Int, into found: inout [Node]) -> Bool {
        !visit(box, zoom: zoom) { slot in
            if found.count >= limit { return false }
            found.append(Node(number: slot.node, pointCount: layout.pointCount))
            return true
        }
    }

    /// Calls `body` with each node alive at a zoom inside a box, in the curve's order, until it says no.
    ///
    /// - Returns: false where `body` said no.
    @inline(__always) func visit(
        _ box: UnitBox, zoom: Int, _ body: (SpatialSlot<Scalar>) -> Bool
    ) -> Bool {
        let level = zoom - layout.minimumZoom
        let words = alive.base + level * layout.wordCount
        let rounded = SpatialBox(around: box)
        return visitGroups(rounded, level) { group, summary in
            var summary = summary
            while summary != 0 {
                let eighth = summary.trailingZeroBitCount / 8
                guard eighthBoxes[group * 8 + eighth].meets(rounded) else {
                    summary &= ~(0xff << UInt64(eighth * 8))
                    continue
                }
                let word = group * 64 + summary.trailingZeroBitCount
                summary &= summary &- 1
                guard wordBoxes[word].meets(rounded) else { continue }
                var bits = words[word]
                while bits != 0 {
                    let slot = slots[word * 64 + bits.trailingZeroBitCount]
                    bits &= bits &- 1
                    if box.contains(Double(slot.x), Double(slot.y)), !body(slot) { return false }
                }
            }
            return true
        }
    }

    /// Calls `body` with each group that has nodes alive at a level and meets a box, and which of its words
    /// have them, until it says no.
    @inline(__always) private func visitGroups(
        _ box: SpatialBox, _ level: Int, _ body: (Int, UInt64) -> Bool
    ) -> Bool {
        let summaries = aliveWords.base + level * layout.groupCount
        for region in 0..<regionBoxes.count where regionBoxes[region].meets(box) {
            for district in region * 8..<min(region * 8 + 8, districtBoxes.count)
            where districtBoxes[district].meets(box) {
                for group in district * 8..<min(district * 8 + 8, layout.groupCount) {
                    let summary = summaries[group]
                    guard summary != 0, groupBoxes[group].meets(box) else { continue }
                    guard body(group, summary) else { return false }
                }
            }
        }
        return true
    }
}
