// SPDX-License-Identifier: MIT
import CPrefetch
import Glibc
import SystemSupport

/// Sorts all nodes, both points and clusters, along a Z-order curve (Morton, 1966), and marks the zooms at which
/// each is alive.
struct SpatialOrder<Scalar: Coordinate> {
    let table: ClusterTable
    let points: PointColumns<Scalar>
    let options: ClusteringOptions
    let parallel: Parallel

    /// Twelve bytes, the size of a slot of floats: the sort moves less memory, and slots can take a block that it frees
    /// (`KeptBlocks`).
    private struct Item: BitwiseCopyable {
        private let upper: UInt32
        private let lower: UInt32
        var node: UInt32

        /// - Parameters:
        ///   - code: the cell on the curve, of at most 44 bits.
        ///   - zooms: the levels at which the node is alive.
        @inline(__always) init(code: UInt64, node: UInt32, zooms: (first: UInt8, last: UInt8)) {
            assert(code >> 44 == 0)
            let word = code &<< 20 | UInt64(zooms.first) &<< 10 | UInt64(zooms.last)
            (upper, lower) = (UInt32(truncatingIfNeeded: word &>> 32), UInt32(truncatingIfNeeded: word))
            self.node = node
        }

        @inline(__always) var code: UInt64 { UInt64(upper) &<< 12 | UInt64(lower &>> 20) }
        @inline(__always) var firstZoom: Int { Int(lower &>> 10 & 0x3ff) }
        @inline(__always) var lastZoom: Int { Int(lower & 0x3ff) }
    }

    private struct CodeKey: RadixKey {
        @inline(__always) func key(_ item: Item) -> UInt64 { item.code }
    }

    func make() throws(ClusteringError) -> SpatialIndex<Scalar> {
        let count = table.pointCount + table.count
        let sorted = sortedItems(count)
        defer { withExtendedLifetime(sorted) {} }
        try parallel.stopIfCancelled()
        orderByOrigin(sorted.base, count: count)
        try parallel.stopIfCancelled()
        try number(sorted.base, count: count)
        try parallel.stopIfCancelled()
        return try index(of: sorted.base, count: count)
    }

    /// All nodes along the curve. The memory that only the sort needs is freed before the return.
    private func sortedItems(_ count: Int) -> Scratch<Item> {
        let items = Scratch<Item>(capacity: count)
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            parallel.forEachPart(of: share, of: shares, count: count) { nodes in
                for node in nodes {
                    fetchParent(of: min(node &+ Self.distance, count &- 1))
                    let (x, y) = position(node)
                    items.base[node] = Item(
                        code: ZOrderCurve.code(x, y), node: UInt32(truncatingIfNeeded: node), zooms: life(node))
                }
            }
        }
        let spare = Scratch<Item>(capacity: count)
        RadixSort.sort(
            items.base, spare: spare.base, count: count, bits: Int(2 * ZOrderCurve.axisBits), by: CodeKey(),
            parallel: parallel)
        return withExtendedLifetime(spare) { items }
    }

    /// Sorts clusters of the same zoom in the same cell of the curve by their origins. Their former ordinals depend on
    /// the number of threads.
    private func orderByOrigin(_ items: UnsafeMutablePointer<Item>, count: Int) {
        let runs = parallel.map(parallel.shares(of: count)) { share, _ in
            self.runs(items, share, of: parallel.shares(of: count), count: count)
        }
        parallel.run(runs.count) { share in
            for run in runs[share] {
                var run = UnsafeMutableBufferPointer(start: items + run.lowerBound, count: run.count)
                run.sort { origin($0) < origin($1) }
            }
        }
    }

    /// The ranges of several clusters of the same zoom in the same cell that begin in a share.
    private func runs(_ items: UnsafeMutablePointer<Item>, _ share: Int, of shares: Int, count: Int) -> [Range<Int>] {
        var (start, end) = Parallel.bounds(share, of: shares, count: count)
        var runs: [Range<Int>] = []
        while start > 0, start < end, areTogether(items[start - 1], items[start]) { start += 1 }
        while start < end {
            var next = start + 1
            while next < count, areTogether(items[start], items[next]) { next += 1 }
            if next > start + 1 { runs.append(start..<next) }
            start = next
        }
        return runs
    }

    @inline(__always) private func areTogether(_ a: Item, _ b: Item) -> Bool {
        a.code == b.code && a.lastZoom == b.lastZoom && a.node >= table.pointCount && b.node >= table.pointCount
    }

    private func origin(_ cluster: Item) -> UInt32 {
        table.originIndexes.base[Int(cluster.node) - table.pointCount]
    }

    /// Assigns clusters their final ordinals.
    private func number(_ items: UnsafeMutablePointer<Item>, count: Int) throws(ClusteringError) {
        let numbering = ClusterNumbering(table, parallel: parallel)
        let points = UInt32(truncatingIfNeeded: table.pointCount)
        numbering.number(count: count) { slots, body in
            for slot in slots where items[slot].node >= points {
                // A cluster's last zoom is the one at which it formed.
                let former = Int(items[slot].node &- points)
                if let ordinal = body(former, items[slot].lastZoom) {
                    items[slot].node = ordinal &+ points
                }
            }
        }
        try numbering.apply()
    }

    @inline(__always) private func position(_ node: Int) -> (Scalar, Scalar) {
        if node < table.pointCount { return (points.x.base[node], points.y.base[node]) }
        let ordinal = node - table.pointCount
        return (Scalar(table.x.base[ordinal]), Scalar(table.y.base[ordinal]))
    }

    private func index(
        of items: UnsafeMutablePointer<Item>, count: Int
    ) throws(ClusteringError) -> SpatialIndex<Scalar> {
        let layout = SpatialLayout(
            pointCount: table.pointCount, nodeCount: count, minimumZoom: options.minimumZoom,
            levels: options.maximumZoom + 2 - options.minimumZoom)
        let slots = Scratch<SpatialSlot<Scalar>>(capacity: count)
        let alive = Scratch<UInt64>(capacity: layout.levels * layout.wordCount)
        let boxes = Scratch<SpatialBox>(capacity: layout.wordCount)
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            if parallel.isCancelled() { return }
            let (start, end) = Parallel.bounds(share, of: shares, count: layout.wordCount)
            for word in start..<end {
                let nodes = word * 64..<min(count, word * 64 + 64)
                fill(slots.base, nodes, from: items)
                var box = SpatialBox.empty
                for slot in nodes { box.include(x: slots.base[slot].x, y: slots.base[slot].y) }
                boxes.base[word] = box
                mark(nodes, of: items, layout, alive.base + word)
            }
        }
        try parallel.stopIfCancelled()
        return SpatialIndex(
            layout: layout, slots: slots.finish(count: count),
            alive: alive.finish(count: layout.levels * layout.wordCount),
            wordBoxes: boxes.finish(count: layout.wordCount), parallel: parallel)
    }

    /// A node is alive from its own zoom, the deepest one, to the zoom just deeper than its parent's.
    @inline(__always) private func life(_ node: Int) -> (first: UInt8, last: UInt8) {
        let parent = table.parents.base[node]
        let first =
            parent == NodeNumber.none ? UInt8(options.minimumZoom) : table.zooms.base[Int(parent)] &+ 1
        let last =
            node < table.pointCount
            ? UInt8(options.maximumZoom + 1) : table.zooms.base[node - table.pointCount]
        return (first, last)
    }

    /// Fetches memory that `life` will need: nodes next to each other have parents that lie far apart.
    @inline(__always) private func fetchParent(of node: Int) {
        let parent = table.parents.base[node]
        if parent != NodeNumber.none { clusterd_prefetch(table.zooms.base + Int(parent)) }
    }

    /// How many nodes ahead memory is fetched.
    private static var distance: Int { 32 }

    /// Writes the slots of a word. A loop of its own, without branches that depend on the nodes: the processor then
    /// waits for many nodes' positions at once.
    @inline(__always) private func fill(
        _ slots: UnsafeMutablePointer<SpatialSlot<Scalar>>, _ nodes: Range<Int>, from items: UnsafeMutablePointer<Item>
    ) {
        if MemoryLayout<SpatialSlot<Scalar>>.size < MemoryLayout<SpatialSlot<Scalar>>.stride, let first = nodes.first {
            // The bytes between slots are part of a snapshot, and of its checksum.
            memset(slots + first, 0, nodes.count * MemoryLayout<SpatialSlot<Scalar>>.stride)
        }
        for slot in nodes {
            let node = items[slot].node
            let (x, y) = position(Int(node))
            slots[slot] = SpatialSlot(x: x, y: y, node: node)
        }
    }

    /// Writes a word's bits of all levels.
    ///
    /// - Parameter words: the word at the first level; that of the next is `wordCount` further.
    @inline(__always) private func mark(
        _ nodes: Range<Int>, of items: UnsafeMutablePointer<Item>, _ layout: SpatialLayout,
        _ words: UnsafeMutablePointer<UInt64>
    ) {
        // By level: the nodes whose first, and whose last it is.
        withUnsafeTemporaryAllocation(of: (first: UInt64, last: UInt64).self, capacity: layout.levels) { ends in
            ends.initialize(repeating: (0, 0))
            for slot in nodes {
                let bit = UInt64(1) &<< UInt64(slot & 63)
                ends[items[slot].firstZoom &- layout.minimumZoom].first |= bit
                ends[items[slot].lastZoom &- layout.minimumZoom].last |= bit
            }
            var alive: UInt64 = 0
            for level in 0..<layout.levels {
                alive |= ends[level].first
                words[level &* layout.wordCount] = alive
                alive &= ~ends[level].last
            }
        }
    }
}
