// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// The ordinals of each zoom's clusters that were built, the deepest zoom first. A cluster's children are among
    /// those before its own zoom's.
    public var levels: [Range<Int>] {
        layers.base.columns.ranges.filter { !$0.isEmpty }.map { Int($0.lowerBound)..<Int($0.upperBound) }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// The tree of an index without a delta as flat arrays, for callers that fold values from points up to
    /// clusters: for each cluster where its children start in `children`, with one more at the end; children as node
    /// numbers, points first, then `pointCount` plus the ordinal. A cluster's children come before it.
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
