// SPDX-License-Identifier: MIT

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
        _ body: (_ childStarts: UnsafeBufferPointer<UInt32>, _ children: UnsafeBufferPointer<UInt32>) ->
            Result
    ) -> Result {
        let columns = layers.base.columns
        return body(
            UnsafeBufferPointer(start: columns.childStarts.base, count: columns.childStarts.count),
            UnsafeBufferPointer(start: columns.children.base, count: columns.children.count))
    }
}
