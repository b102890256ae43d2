// SPDX-License-Identifier: MIT

/// Sorts all nodes, both points and clusters, along a Z-order curve (Morton, 1966), and marks the zooms at which
/// each is alive.
struct SpatialOrder<Scalar: Coordinate> {
    let table: ClusterTable
    let points: PointColumns<Scalar>
    let options: ClusteringOptions
    let parallel: Parallel

    private struct Item: BitwiseCopyable {
        var code: UInt64
        var node: UInt32
        /// The levels at which the node is alive.
        var firstZoom: UInt8
        var lastZoom: UInt8
    }

    private struct CodeKey: RadixKey {
        @inline(__always) func key(_ item: Item) -> UInt64 { item.code }
    }

    func make() throws(ClusteringError) -> SpatialIndex<Scalar> {
        let count = table.pointCount + table.count
        let sorted = sortedItems(count)
        defer { withExtendedLifetime(sorted) {} }
        try parallel.stopIfCancelled()
        number(sorted.base, count: count)
        try parallel.stopIfCancelled()
        return index(of: sorted.base, count: count)
    }

    /// All nodes along the curve. The memory that only the sort needs is freed before the return.
    private func sortedItems(_ count: Int) -> Scratch<Item> {
        let first = Scratch<Item>(capacity: count)
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            for node in start..<end {
                let (x, y) = place(node)
                let (firstZoom, lastZoom) = life(node)
                first.base[node] = Item(
                    code: ZOrderCurve.code(x, y), node: UInt32(truncatingIfNeeded: node),
                    firstZoom: firstZoom,
                    lastZoom: lastZoom)
            }
        }
        let second = Scratch<Item>(capacity: count)
        let sorted = RadixSort.sort(
            first.base, spare: second.base, count: count, bits: Int(2 * ZOrderCurve.axisBits), by: CodeKey(),
            parallel: parallel)
        return sorted == first.base ? first : second
    }

    /// Assigns clusters their final ordinals.
    private func number(_ items: UnsafeMutablePointer<Item>, count: Int) {
        let numbering = ClusterNumbering(table, parallel: parallel)
        let points = UInt32(truncatingIfNeeded: table.pointCount)
        numbering.number(count: count) { slots, body in
            for slot in slots where items[slot].node >= points {
                // A cluster's last zoom is the one at which it formed.
                let former = Int(items[slot].node &- points)
                if let ordinal = body(former, Int(items[slot].lastZoom)) {
                    items[slot].node = ordinal &+ points
                }
            }
        }
        numbering.apply()
        table.ordinalsByOrigin = numbering.ordinals
    }

    @inline(__always) private func place(_ node: Int) -> (Scalar, Scalar) {
        if node < table.pointCount { return (points.x.base[node], points.y.base[node]) }
        let ordinal = node - table.pointCount
        return (Scalar(table.x.base[ordinal]), Scalar(table.y.base[ordinal]))
    }

    private func index(of items: UnsafeMutablePointer<Item>, count: Int) -> SpatialIndex<Scalar> {
        let layout = SpatialLayout(
            pointCount: table.pointCount, nodeCount: count, minimumZoom: options.minimumZoom,
            levels: options.maximumZoom + 2 - options.minimumZoom)
        let slots = Scratch<SpatialSlot<Scalar>>(capacity: count)
        let alive = Scratch<UInt64>(capacity: layout.levels * layout.wordCount)
        let boxes = Scratch<SpatialBox>(capacity: layout.wordCount)
        let shares = parallel.portions(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: layout.wordCount)
            for level in 0..<layout.levels {
                (alive.base + level * layout.wordCount + start).initialize(repeating: 0, count: end - start)
            }
            for word in start..<end {
                var box = SpatialBox.empty
                for slot in word * 64..<min(count, word * 64 + 64) {
                    let node = Int(items[slot].node)
                    let (nodeX, nodeY) = place(node)
                    slots.base[slot] = SpatialSlot(x: nodeX, y: nodeY, node: items[slot].node)
                    box.include(x: nodeX, y: nodeY)
                    mark(items[slot], bit: UInt64(1) << UInt64(slot & 63), word: word, layout, alive.base)
                }
                boxes.base[word] = box
            }
        }
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

    @inline(__always) private func mark(
        _ item: Item, bit: UInt64, word: Int, _ layout: SpatialLayout, _ alive: UnsafeMutablePointer<UInt64>
    ) {
        var level = Int(item.firstZoom) - layout.minimumZoom
        let last = Int(item.lastZoom) - layout.minimumZoom
        while level <= last {
            alive[level &* layout.wordCount &+ word] |= bit
            level &+= 1
        }
    }
}
