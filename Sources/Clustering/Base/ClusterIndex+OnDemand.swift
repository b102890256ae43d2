// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Makes an index on sections that are still in a file. Only `nodes` and `tileNodes` may be called, and of the nodes that they
    /// find only summaries, weights and partitions be read: these have been loaded then.
    ///
    /// Nodes and summaries are the same as of the index with all sections, if `isLost` is false afterwards.
    ///
    /// - Parameters:
    ///   - sections: memory for all sections, aligned to 8, into which they are loaded.
    ///   - owner: keeps the memory valid during its lifetime.
    ///   - loader: must have loaded `wordBoxes` and `zoomRanges`.
    /// - Complexity: O(nodes / 64).
    public static func onDemand(
        options: ClusteringOptions, pointCount: Int, owner: AnyObject,
        sections: [IndexSection: UnsafeRawBufferPointer], loader: any IndexLoader
    ) throws(IndexSectionError) -> ClusterIndex {
        let source = SectionSource(owner: owner, sections: sections)
        let clusters = try source.clusterCount(options, points: pointCount)
        let spatial: BaseIndex.Spatial =
            switch options.precision {
            case .float: .float(try source.spatialOnDemand(options, pointCount, pointCount + clusters))
            case .fixed, .double:
                .double(try source.spatialOnDemand(options, pointCount, pointCount + clusters))
            }
        let base = BaseIndex(
            options: options, pointCount: pointCount,
            columns: try source.columns(options, points: pointCount, clusters: clusters), spatial: spatial,
            demand: IndexDemand(loader))
        return ClusterIndex(LayeredIndex(base))
    }
}

extension SectionSource {
    fileprivate func spatialOnDemand<Scalar: Coordinate>(
        _ options: ClusteringOptions, _ points: Int, _ nodes: Int
    ) throws(IndexSectionError) -> SpatialIndex<Scalar> {
        let (layout, slots, alive, boxes): SpatialColumns<Scalar> = try spatialColumns(options, points, nodes)
        return SpatialIndex(onDemand: layout, slots: slots, alive: alive, wordBoxes: boxes)
    }
}
