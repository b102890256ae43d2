// SPDX-License-Identifier: MIT

extension BaseIndex {
    /// The same as without a demand: loads what is read. After a failure, finds nothing.
    func collect(
        _ box: UnitBox, level zoom: Int, limit: Int, on demand: IndexDemand, into found: inout [Node]
    ) -> Bool {
        guard !demand.hasFailed else { return false }
        let outcome =
            switch spatial {
            case .float(let index): index.collect(box, zoom, limit, of: self, on: demand, &found)
            case .double(let index): index.collect(box, zoom, limit, of: self, on: demand, &found)
            }
        if outcome == nil { demand.fail() }
        return outcome ?? false
    }
}

extension SpatialIndex {
    /// Appends the nodes alive at a zoom inside a box, in the curve's order, and loads what answers contain of them.
    ///
    /// Only what has been loaded, and so compared with its checksum, is read, and numbers read from it are checked.
    ///
    /// - Returns: whether there are more than `limit`; nil if something cannot be loaded.
    fileprivate func collect(
        _ box: UnitBox, _ zoom: Int, _ limit: Int, of base: BaseIndex, on demand: IndexDemand,
        _ found: inout [Node]
    ) -> Bool? {
        let level = zoom - layout.minimumZoom
        guard (0..<layout.levels).contains(level) else { return nil }
        var (isGood, isMore) = (true, false)
        _ = visitWords(meeting: box, level: level) { word in
            let index = level * layout.wordCount + word
            isGood = demand.load(.alive, index..<index + 1, of: UInt64.self)
            guard isGood, alive[index] != 0 else { return isGood }
            let slots = word * 64..<min(word * 64 + 64, layout.nodeCount)
            isGood = demand.load(.spatialSlots, slots, of: SpatialSlot<Scalar>.self)
            var bits = alive[index]
            while isGood, bits != 0 {
                let slot = slots.lowerBound + bits.trailingZeroBitCount
                bits &= bits &- 1
                isGood = slot < slots.upperBound && Int(self.slots[slot].node) < layout.nodeCount
                guard isGood, box.contains(Double(self.slots[slot].x), Double(self.slots[slot].y)) else {
                    continue
                }
                guard found.count < limit else {
                    isMore = true
                    return false
                }
                let node = Node(number: self.slots[slot].node, pointCount: layout.pointCount)
                isGood = demand.load(node, of: base)
                found.append(node)
            }
            return isGood
        }
        return isGood ? isMore : nil
    }
}
