// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Calls `body` with each section's bytes, in the machine's byte order. They are valid only during the call.
    public func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let columns = layers.base.columns
        try body(.clusterX, columns.x.bytes)
        try body(.clusterY, columns.y.bytes)
        try body(.clusterCounts, columns.counts.bytes)
        try body(.clusterZooms, columns.zooms.bytes)
        try body(.originIndexes, columns.originIndexes.bytes)
        try body(.ordinalsByOrigin, columns.ordinalsByOrigin.bytes)
        try body(.childStarts, columns.childStarts.bytes)
        try body(.children, columns.children.bytes)
        try body(.leafStarts, columns.leafStarts.bytes)
        try body(.leaves, columns.leaves.bytes)
        try body(.parents, columns.parents.bytes)
        if let weights = columns.weights { try body(.weights, weights.bytes) }
        if let partitions = columns.partitions { try body(.partitions, partitions.bytes) }
        switch layers.base.spatial {
        case .float(let index): try index.forEachSection(body)
        case .double(let index): try index.forEachSection(body)
        }
        let ranges = columns.ranges.flatMap { [$0.lowerBound, $0.upperBound] }
        var failure: Failure?
        ranges.withUnsafeBytes { bytes in
            do throws(Failure) { try body(.zoomRanges, bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

extension SpatialIndex {
    fileprivate func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try body(.spatialSlots, slots.bytes)
        try body(.alive, alive.bytes)
        try body(.wordBoxes, wordBoxes.bytes)
    }
}

extension Column {
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count * MemoryLayout<Element>.stride)
    }
}
