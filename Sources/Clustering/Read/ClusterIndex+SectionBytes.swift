// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Calls `body` with each section's bytes, in the machine's byte order. They are valid only during the
    /// call.
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
        try lend(ranges.withUnsafeBytes { Array($0) }, as: .zoomRanges, to: body)
    }
}

extension SpatialIndex {
    fileprivate func forEachSection<Failure: Error>(
        _ body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try body(.spatialSlots, slots.bytes)
        try body(.alive, alive.bytes)
        try body(.wordBoxes, wordBoxes.bytes)
        try body(.eighthBoxes, eighthBoxes.bytes)
        try body(.groupBoxes, groupBoxes.bytes)
        try body(.districtBoxes, districtBoxes.bytes)
        try body(.regionBoxes, regionBoxes.bytes)
        try body(.aliveWords, aliveWords.bytes)
        let counts = lowLevels.map { UInt32($0.count) }
        try lend(counts.withUnsafeBytes { Array($0) }, as: .lowCounts, to: body)
        try lend(lowLevels.flatMap { $0.places.bytes }, as: .lowPlaces, to: body)
        try lend(lowLevels.flatMap { $0.numbers.bytes }, as: .lowNumbers, to: body)
        try lend(lowLevels.flatMap { $0.blockBoxes.bytes }, as: .lowBlockBoxes, to: body)
        try lend(lowLevels.flatMap { $0.groupBoxes.bytes }, as: .lowGroupBoxes, to: body)
        try lend(lowLevels.flatMap { $0.regionBoxes.bytes }, as: .lowRegionBoxes, to: body)
    }
}

private func lend<Failure: Error>(
    _ bytes: [UInt8], as section: IndexSection,
    to body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
) throws(Failure) {
    var failure: Failure?
    bytes.withUnsafeBytes { bytes in
        do throws(Failure) { try body(section, bytes) } catch { failure = error }
    }
    if let failure { throw failure }
}
