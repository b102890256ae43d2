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
            options: options, pointCount: pointCount, columns: columns, spatial: spatial,
            memory: memory)
        return ClusterIndex(LayeredIndex(base), lineage: lineage)
    }
}
