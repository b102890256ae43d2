// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// The maximum number of nodes (points and clusters together) that 32 bits can number, with one number left
    /// for "none". There are fewer clusters than points.
    static let nodeLimit = Int(UInt32.max)

    /// Clusters points at every zoom.
    ///
    /// - Parameters:
    ///   - weights: a number above 0 for each point, which weights clusters' centres.
    ///   - partitions: a number for each point; only points with the same number cluster together.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called every few milliseconds, from any thread; once true it must stay true.
    /// - Complexity: about O(points × log(clusters)); a million points take a few hundred milliseconds.
    public static func build(
        _ points: ProjectedPoints, weights: [Double]? = nil, partitions: [UInt32]? = nil, threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> ClusterIndex {
        try build(
            points, weights: weights, partitions: partitions,
            Parallel(.awake, threads: threads, isCancelled: isCancelled))
    }

    static func build(
        _ points: ProjectedPoints, weights: [Double]?, partitions: [UInt32]?, _ parallel: Parallel
    ) throws(ClusteringError) -> ClusterIndex {
        guard (weights?.count ?? points.count) == points.count,
            (partitions?.count ?? points.count) == points.count
        else { throw .invalidOptions("weights and partitions must have one value for each point") }
        switch points.columns {
        case .float(let columns):
            return try assemble(columns, weights: weights, partitions: partitions, points.options, parallel) {
                .float($0)
            }
        case .double(let columns):
            return try assemble(columns, weights: weights, partitions: partitions, points.options, parallel) {
                .double($0)
            }
        }
    }

    /// Clusters projected points.
    static func assemble<Scalar: Coordinate>(
        _ points: PointColumns<Scalar>, weights: [Double]?, partitions: [UInt32]?,
        _ options: ClusteringOptions, _ parallel: Parallel,
        _ wrap: (SpatialIndex<Scalar>) -> BaseIndex.Spatial
    ) throws(ClusteringError) -> ClusterIndex {
        let table = try clusters(points, weights: weights, partitions: partitions, options, parallel)
        return try assemble(table, points, options, parallel, wrap)
    }

    /// The index of a finished table.
    static func assemble<Scalar: Coordinate>(
        _ table: ClusterTable, _ points: PointColumns<Scalar>, _ options: ClusteringOptions, _ parallel: Parallel,
        _ wrap: (SpatialIndex<Scalar>) -> BaseIndex.Spatial
    ) throws(ClusteringError) -> ClusterIndex {
        try parallel.stopIfCancelled()
        let spatial = try SpatialOrder<Scalar>(
            table: table, points: points, options: options, parallel: parallel
        ).make()
        try parallel.stopIfCancelled()
        let (leaves, starts, leafCount) = try LeafOrder.make(table, parallel: parallel)
        let base = BaseIndex(
            options: options, pointCount: points.count,
            columns: table.finish(
                leaves: leaves.finish(count: leafCount), leafStarts: starts.finish(count: table.count)),
            spatial: wrap(spatial))
        return ClusterIndex(LayeredIndex(base))
    }

    /// The clusters of all zooms. Most of a build's memory is used only here and released on return.
    private static func clusters<Scalar: Coordinate>(
        _ points: PointColumns<Scalar>, weights: [Double]?, partitions: [UInt32]?,
        _ options: ClusteringOptions, _ parallel: Parallel
    ) throws(ClusteringError) -> ClusterTable {
        let builder = IndexBuilder<Scalar>(
            points: points, weights: weights, partitions: partitions, options: options, parallel: parallel)
        try parallel.stopIfCancelled()
        try builder.run()
        return builder.table
    }
}

extension ClusterTable {
    /// Returns the finished columns; the table is empty afterwards.
    fileprivate func finish(leaves: Column<UInt32>, leafStarts: Column<UInt32>) -> ClusterColumns {
        let nodes = pointCount + count
        return ClusterColumns(
            x: x.finish(count: count), y: y.finish(count: count), counts: counts.finish(count: count),
            zooms: zooms.finish(count: count), originIndexes: originIndexes.finish(count: count),
            ordinalsByOrigin: ordinalsByOrigin.finish(count: count),
            childStarts: childStarts.finish(count: count + 1), children: children.finish(count: childCount),
            leafStarts: leafStarts, leaves: leaves, parents: parents.finish(count: nodes),
            weights: weights?.finish(count: nodes), partitions: partitions?.finish(count: nodes),
            ranges: ranges)
    }
}
