// SPDX-License-Identifier: MIT
import SystemSupport

/// All nodes of an index along a Z-order curve, with the levels at which each is alive, so that one set of
/// coordinates serves every zoom.
///
/// A class, so that a query retains one object instead of each column.
///
/// Invariant: the columns have the layout's sizes; every slot's node is one of the index; no bit past the
/// last node is set.
final class SpatialIndex<Scalar: Coordinate>: Sendable {
    let layout: SpatialLayout
    let slots: Column<SpatialSlot<Scalar>>
    /// By level, then word: which of the word's nodes are alive.
    let alive: Column<UInt64>
    let wordBoxes: Column<SpatialBox>
    /// The extents of 8, 64, 512 and 4,096 words: a tree of boxes over the curve.
    let eighthBoxes: Column<SpatialBox>
    let groupBoxes: Column<SpatialBox>
    let districtBoxes: Column<SpatialBox>
    let regionBoxes: Column<SpatialBox>
    /// By level, then group: which of the group's words have nodes alive.
    let aliveWords: Column<UInt64>
    /// The lowest levels, which have few nodes, in another form.
    let lowLevels: [PackedTree]

    init(
        layout: SpatialLayout, slots: Column<SpatialSlot<Scalar>>, alive: Column<UInt64>,
        wordBoxes: Column<SpatialBox>, parallel: Parallel = Parallel(.awake, threads: 1)
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
        var counts = [Int](repeating: 0, count: layout.levels)
        counts.withUnsafeMutableBufferPointer { counts in
            let counts = Unchecked(counts)
            let shares = min(parallel.shares(of: layout.nodeCount), layout.levels)
            parallel.run(shares) { share in
                for level in stride(from: share, to: layout.levels, by: shares) {
                    counts.value[level] = Self.mark(level, layout, alive, words.base)
                }
            }
        }
        lowLevels = PackedTree.lowest(layout, counts, slots, alive, parallel: parallel)
        aliveWords = words.finish(count: layout.levels * layout.groupCount)
    }

    /// An index on columns that another one had.
    init(
        layout: SpatialLayout, slots: Column<SpatialSlot<Scalar>>, alive: Column<UInt64>,
        wordBoxes: Column<SpatialBox>, eighthBoxes: Column<SpatialBox>, groupBoxes: Column<SpatialBox>,
        districtBoxes: Column<SpatialBox>, regionBoxes: Column<SpatialBox>, aliveWords: Column<UInt64>,
        lowLevels: [PackedTree]
    ) {
        (self.layout, self.slots, self.alive, self.wordBoxes) = (layout, slots, alive, wordBoxes)
        (self.eighthBoxes, self.groupBoxes) = (eighthBoxes, groupBoxes)
        (self.districtBoxes, self.regionBoxes) = (districtBoxes, regionBoxes)
        (self.aliveWords, self.lowLevels) = (aliveWords, lowLevels)
    }

    /// Marks which words have nodes alive at a level.
    ///
    /// - Returns: the number of nodes alive.
    private static func mark(
        _ level: Int, _ layout: SpatialLayout, _ alive: Column<UInt64>, _ words: UnsafeMutablePointer<UInt64>
    ) -> Int {
        let marks = words + level * layout.groupCount
        let first = level * layout.wordCount
        var count = 0
        for word in 0..<layout.wordCount where alive[first + word] != 0 {
            marks[word / 64] |= UInt64(1) << UInt64(word % 64)
            count += alive[first + word].nonzeroBitCount
        }
        return count
    }

    /// The number of nodes alive at a level. O(nodes / 64).
    func count(level: Int) -> Int {
        let first = level * layout.wordCount
        return (first..<first + layout.wordCount).reduce(0) { $0 + alive[$1].nonzeroBitCount }
    }

    private static func extents(ofEight lower: Column<SpatialBox>) -> Column<SpatialBox> {
        let count = (lower.count + 7) / 8
        let boxes = Scratch(repeating: SpatialBox.empty, count: max(1, count))
        for index in 0..<lower.count { boxes.base[index / 8].include(lower[index]) }
        return boxes.finish(count: count)
    }

    var memoryBytes: Int {
        slots.memoryBytes + alive.memoryBytes + wordBoxes.memoryBytes + aliveWords.memoryBytes
            + eighthBoxes.memoryBytes + groupBoxes.memoryBytes + districtBoxes.memoryBytes
            + regionBoxes.memoryBytes + lowLevels.reduce(0) { $0 + $1.memoryBytes }
    }

    /// Appends the nodes alive at a zoom inside a box, in the curve's order.
    ///
    /// - Parameter limit: the maximum count of `found`; the result is true if there are more.
    /// - Complexity: O(groups + words of 64 nodes that the box meets + answers).
    func collect(_ box: UnitBox, zoom: Int, limit: Int, into found: inout [Node]) -> Bool {
        let level = zoom - layout.minimumZoom
        if level < lowLevels.count {
            // Not retained, because the index keeps its trees: counting references would take a fiftieth of a
            // small query.
            return Unmanaged.passUnretained(lowLevels[level])._withUnsafeGuaranteedRef {
                $0.collect(box, limit: limit, pointCount: layout.pointCount, into: &found)
            }
        }
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 2 * Self.lookahead) { memory in
            var candidates = Candidates(memory, box, limit)
            let isWhole = visitWords(box, zoom: zoom) { word, bits in
                candidates.add(word, bits)
                return !candidates.areEnough || candidates.take(of: self, into: &found)
            }
            return !(isWhole && candidates.take(of: self, into: &found))
        }
    }

    /// Lets the pages be read from the disk side by side that `collect` reads: first those of words, then those of slots.
    func willCollect(_ box: UnitBox, zoom: Int, limit: Int, from memory: any IndexMemory) {
        let level = zoom - layout.minimumZoom
        guard level >= lowLevels.count else { return }
        var addresses: [UnsafeRawPointer] = []
        _ = visitGroups(SpatialBounds(box), level) { group, _ in
            let word = group * 64
            addresses += [eighthBoxes.address(group * 8), wordBoxes.address(word)]
            addresses += [alive.address(level * layout.wordCount + word)]
            return addresses.count < Self.mostAddresses
        }
        memory.willRead(addresses)
        addresses.removeAll(keepingCapacity: true)
        var count = 0
        _ = visitWords(box, zoom: zoom) { word, bits in
            count += bits.nonzeroBitCount
            addresses.append(slots.address(word * 64 + bits.trailingZeroBitCount))
            addresses.append(slots.address(word * 64 + 63 - bits.leadingZeroBitCount))
            return count <= limit && addresses.count < Self.mostAddresses
        }
        memory.willRead(addresses)
    }

    /// Bounds what is read for one query before it is needed.
    private static var mostAddresses: Int { 4096 }

    /// Calls `body` with each node alive at a zoom inside a box, in the curve's order. Nodes are examined in batches.
    @inline(__always) func visitTogether(_ box: UnitBox, zoom: Int, _ body: (SpatialSlot<Scalar>) -> Void) {
        let level = zoom - layout.minimumZoom
        if level < lowLevels.count {
            return lowLevels[level].visit(box) { x, y, node in body(SpatialSlot(x: Scalar(x), y: Scalar(y), node: node))
            }
        }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 2 * Self.lookahead) { memory in
            var candidates = Candidates(memory, box, .max)
            _ = visitWords(box, zoom: zoom) { word, bits in
                candidates.add(word, bits)
                if candidates.areEnough { candidates.take(of: self, body) }
                return true
            }
            candidates.take(of: self, body)
        }
    }

    /// The maximum number of nodes in a batch.
    fileprivate static var lookahead: Int { 256 }

    /// Nodes whose words a box meets; their positions have not been read yet.
    ///
    /// Slots are scattered in memory. A processor that must decide whether one is inside before it continues
    /// with the next waits for each; with batches it waits for all of them together.
    private struct Candidates {
        private let slots: UnsafeMutableBufferPointer<UInt32>
        private let inside: UnsafeMutableBufferPointer<UInt32>
        private var count = 0
        /// The size from which a batch is processed.
        private var enough: Int
        private let box: UnitBox
        private let limit: Int

        /// - Parameter memory: room for twice `lookahead` numbers, valid during this value's lifetime.
        init(_ memory: UnsafeMutableBufferPointer<UInt32>, _ box: UnitBox, _ limit: Int) {
            slots = UnsafeMutableBufferPointer(rebasing: memory[..<SpatialIndex.lookahead])
            inside = UnsafeMutableBufferPointer(rebasing: memory[SpatialIndex.lookahead...])
            self.box = box
            self.limit = limit
            enough = Self.enough(for: limit)
        }

        /// About as many as are still needed, and few enough that another word's nodes fit.
        private static func enough(for wanted: Int) -> Int {
            max(8, min(wanted, SpatialIndex.lookahead - 64))
        }

        /// Whether the batch is to be processed now.
        var areEnough: Bool { count > enough }

        @inline(__always) mutating func add(_ word: Int, _ bits: UInt64) {
            let first = UInt32(truncatingIfNeeded: word &* 64)
            var bits = bits
            while bits != 0 {
                slots[count] = first | UInt32(truncatingIfNeeded: bits.trailingZeroBitCount)
                count &+= 1
                bits &= bits &- 1
            }
        }

        /// Passes the candidates that are inside the box to `body`.
        @inline(__always) mutating func take(of index: SpatialIndex, _ body: (SpatialSlot<Scalar>) -> Void) {
            var kept = 0
            for candidate in 0..<count {
                let slot = index.slots[Int(slots[candidate])]
                inside[kept] = slots[candidate]
                kept &+= box.count(Double(slot.x), Double(slot.y))
            }
            count = 0
            for candidate in 0..<kept { body(index.slots[Int(inside[candidate])]) }
        }

        /// Moves the candidates that are inside the box to `found`; returns false if there are more than the limit.
        mutating func take(of index: SpatialIndex, into found: inout [Node]) -> Bool {
            var kept = 0
            for candidate in 0..<count {
                let slot = index.slots[Int(slots[candidate])]
                inside[kept] = slot.node
                kept &+= box.count(Double(slot.x), Double(slot.y))
            }
            count = 0
            let room = max(0, limit - found.count)
            for candidate in 0..<min(kept, room) {
                found.append(Node(number: inside[candidate], pointCount: index.layout.pointCount))
            }
            enough = Self.enough(for: limit - found.count)
            return kept <= room
        }
    }

    /// Calls `body` with each node alive at a zoom inside a box, in the curve's order, until it returns false.
    ///
    /// - Returns: false if `body` returned false.
    @inline(__always) func visit(_ box: UnitBox, zoom: Int, _ body: (SpatialSlot<Scalar>) -> Bool) -> Bool {
        visitWords(box, zoom: zoom) { word, bits in
            var bits = bits
            while bits != 0 {
                let slot = slots[word * 64 + bits.trailingZeroBitCount]
                bits &= bits &- 1
                if box.contains(Double(slot.x), Double(slot.y)), !body(slot) { return false }
            }
            return true
        }
    }

    /// Calls `body` with each word that has nodes alive at a zoom and whose extent meets a box, and with the
    /// bits of its nodes alive, in the curve's order, until it returns false.
    ///
    /// - Returns: false if `body` returned false.
    @inline(__always) func visitWords(
        _ box: UnitBox, zoom: Int, _ body: (_ word: Int, _ alive: UInt64) -> Bool
    ) -> Bool {
        let level = zoom - layout.minimumZoom
        let words = alive.base + level * layout.wordCount
        return visitWords(meeting: box, level: level) { word in body(word, words[word]) }
    }

    /// Calls `body` with each word that may have nodes alive at a level and whose extent meets a box, in the
    /// curve's order, until it returns false.
    ///
    /// - Returns: false if `body` returned false.
    @inline(__always) func visitWords(meeting box: UnitBox, level: Int, _ body: (_ word: Int) -> Bool) -> Bool {
        let bounds = SpatialBounds(box)
        return visitGroups(bounds, level) { group, summary in
            var summary = summary
            while summary != 0 {
                let eighth = summary.trailingZeroBitCount / 8
                guard eighthBoxes[group * 8 + eighth].meets(bounds) else {
                    summary &= ~(0xff << UInt64(eighth * 8))
                    continue
                }
                let word = group * 64 + summary.trailingZeroBitCount
                summary &= summary &- 1
                if wordBoxes[word].meets(bounds), !body(word) { return false }
            }
            return true
        }
    }

    /// Calls `body` with each group that has nodes alive at a level and meets a box, and with the bits of its
    /// words that have them, until it returns false.
    @inline(__always) private func visitGroups(
        _ bounds: SpatialBounds, _ level: Int, _ body: (Int, UInt64) -> Bool
    ) -> Bool {
        let summaries = aliveWords.base + level * layout.groupCount
        for region in 0..<regionBoxes.count where regionBoxes[region].meets(bounds) {
            for district in region * 8..<min(region * 8 + 8, districtBoxes.count)
            where districtBoxes[district].meets(bounds) {
                for group in district * 8..<min(district * 8 + 8, layout.groupCount) {
                    let summary = summaries[group]
                    guard summary != 0, groupBoxes[group].meets(bounds) else { continue }
                    guard body(group, summary) else { return false }
                }
            }
        }
        return true
    }
}
