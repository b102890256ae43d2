// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// Makes an index on sections that are already in memory, such as those of a loaded snapshot; nothing is copied.
    ///
    /// Only the sections' sizes are checked. Call `validate` before any query, because an index whose arrays
    /// contradict each other may read outside them.
    ///
    /// - Parameters:
    ///   - sections: the sections' bytes, aligned to 8.
    ///   - owner: keeps the bytes valid and unchanged during its lifetime.
    ///   - threads: how many cores may be used.
    public static func onSections(
        options: ClusteringOptions, pointCount: Int, owner: AnyObject,
        sections: [IndexSection: UnsafeRawBufferPointer], threads: Int = 1
    ) throws(IndexSectionError) -> ClusterIndex {
        let source = SectionSource(owner: owner, sections: sections)
        let parallel = Parallel(.awake, threads: threads)
        let clusters = try source.clusterCount(options, points: pointCount)
        let nodes = pointCount + clusters
        let columns = try source.columns(options, points: pointCount, clusters: clusters)
        let spatial: BaseIndex.Spatial =
            switch options.precision {
            case .float: .float(try source.spatial(options, pointCount, nodes, parallel))
            case .fixed, .double: .double(try source.spatial(options, pointCount, nodes, parallel))
            }
        let base = BaseIndex(options: options, pointCount: pointCount, columns: columns, spatial: spatial)
        return ClusterIndex(LayeredIndex(base))
    }
}
