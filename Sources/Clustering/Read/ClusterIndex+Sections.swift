// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Makes an index on sections that `forEachSection` has written, such as those of a snapshot. Nothing is
    /// copied, and little is read.
    ///
    /// Only the sections' sizes are checked: their content must be what was written, or `memory` damaged.
    ///
    /// - Parameters:
    ///   - sections: the sections' bytes, aligned to 8.
    ///   - lineage: that of the index whose sections they are, if it is of this process.
    ///   - memory: keeps the bytes valid and unchanged during its lifetime.
    /// - Complexity: O(1).
    public static func onSections(
        options: ClusteringOptions, pointCount: Int, memory: any IndexMemory,
        sections: [IndexSection: UnsafeRawBufferPointer], lineage: UInt64? = nil
    ) throws(IndexSectionError) -> ClusterIndex {
        let source = SectionSource(owner: memory, sections: sections)
        let clusters = try source.clusterCount(options, points: pointCount)
        let nodes = pointCount + clusters
        let columns = try source.columns(options, points: pointCount, clusters: clusters)
        let spatial: BaseIndex.Spatial =
            switch options.precision {
            case .float: .float(try source.spatial(options, pointCount, nodes))
            case .fixed, .double: .double(try source.spatial(options, pointCount, nodes))
            }
        let base = BaseIndex(
            options: options, pointCount: pointCount, columns: columns, spatial: spatial, memory: memory)
        return ClusterIndex(LayeredIndex(base), lineage: lineage)
    }
}

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
        try lend(lowLevels.flatMap { $0.positions.bytes }, as: .lowPositions, to: body)
        try lend(lowLevels.flatMap { $0.numbers.bytes }, as: .lowNumbers, to: body)
        try lend(lowLevels.flatMap { $0.blockBoxes.bytes }, as: .lowBlockBoxes, to: body)
        try lend(lowLevels.flatMap { $0.groupBoxes.bytes }, as: .lowGroupBoxes, to: body)
        try lend(lowLevels.flatMap { $0.regionBoxes.bytes }, as: .lowRegionBoxes, to: body)
    }
}

private func lend<Failure: Error>(
    _ bytes: [UInt8], as section: IndexSection, to body: (IndexSection, UnsafeRawBufferPointer) throws(Failure) -> Void
) throws(Failure) {
    var failure: Failure?
    bytes.withUnsafeBytes { bytes in
        do throws(Failure) { try body(section, bytes) } catch { failure = error }
    }
    if let failure { throw failure }
}

extension ClusterIndex {
    /// The ordinals of each zoom's clusters as built, the deepest zoom first. All children of a cluster have
    /// lower ordinals than its zoom's clusters.
    public var levels: [Range<Int>] {
        layers.base.columns.ranges.filter { !$0.isEmpty }.map { Int($0.lowerBound)..<Int($0.upperBound) }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Passes the tree of an index without a delta as flat arrays, for callers that fold values from points up to
    /// clusters. The first array has, for each cluster, the start of its children in `children`, and one more
    /// element for the end. Children are node numbers: points first, then `pointCount` plus the ordinal. A
    /// cluster's children have lower ordinals than the cluster.
    public func withHierarchy<Result>(
        _ body: (_ childStarts: UnsafeBufferPointer<UInt32>, _ children: UnsafeBufferPointer<UInt32>) -> Result
    ) -> Result {
        let columns = layers.base.columns
        return body(
            UnsafeBufferPointer(start: columns.childStarts.base, count: columns.childStarts.count),
            UnsafeBufferPointer(start: columns.children.base, count: columns.children.count))
    }
}
