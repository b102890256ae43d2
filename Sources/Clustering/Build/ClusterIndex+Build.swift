// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// The maximum number of nodes (points and clusters together) that 32 bits can number, with one number left
    /// for "none". There are fewer clusters than points.
    static let nodeLimit = Int(UInt32.max)

    /// Clusters points at every zoom.
    ///
    /// - Parameters:
    ///   - longitudes: in degrees, -180 to 180.
    ///   - latitudes: in degrees, -90 to 90; the same count.
    ///   - weights: a number above 0 for each point, which weights clusters' centres.
    ///   - partitions: a number for each point; only points with the same number cluster together.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called every few milliseconds, from any thread; once true it must stay true.
    /// - Complexity: about O(points × log(clusters)); a million points take a few hundred milliseconds.
    public static func build(
        longitudes: UnsafeBufferPointer<Double>, latitudes: UnsafeBufferPointer<Double>,
        weights: [Double]? = nil, partitions: [UInt32]? = nil, options: ClusteringOptions, threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> ClusterIndex {
        try build(
            longitudes: longitudes, latitudes: latitudes, weights: weights, partitions: partitions,
            options: options, Parallel(threads: threads, isCancelled: isCancelled))
    }

    static func build(
        longitudes: UnsafeBufferPointer<Double>, latitudes: UnsafeBufferPointer<Double>,
        weights: [Double]?, partitions: [UInt32]?, options: ClusteringOptions, _ parallel: Parallel,
        limit: Int = nodeLimit
    ) throws(ClusteringError) -> ClusterIndex {
        try options.validate()
        let count = longitudes.count
        guard latitudes.count == count, (weights?.count ?? count) == count,
            (partitions?.count ?? count) == count
        else {
            throw .invalidOptions(
                "every point needs a longitude, a latitude, and a weight and part where asked")
        }
        guard 2 * count <= limit else { throw .tooManyPoints(count) }
        let inputs = PointInputs(
            longitudes: longitudes, latitudes: latitudes, weights: weights, partitions: partitions)
        switch options.precision {
        case .float: return try assemble(Float.self, inputs, options, parallel) { .float($0) }
        case .fixed, .double:
            return try assemble(Double.self, inputs, options, parallel) { .double($0) }
        }
    }

    private struct PointInputs {
        let longitudes: UnsafeBufferPointer<Double>
        let latitudes: UnsafeBufferPointer<Double>
        let weights: [Double]?
        let partitions: [UInt32]?
    }

    private static func assemble<Scalar: Coordinate>(
        _: Scalar.Type, _ inputs: PointInputs, _ options: ClusteringOptions, _ parallel: Parallel,
        _ wrap: (SpatialIndex<Scalar>) -> BaseIndex.Spatial
    ) throws(ClusteringError) -> ClusterIndex {
        let count = inputs.longitudes.count
        let x = Scratch<Scalar>(capacity: count)
        let y = Scratch<Scalar>(capacity: count)
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            for index in start..<end {
                let place = options.unitPosition(inputs.longitudes[index], inputs.latitudes[index])
                (x.base[index], y.base[index]) = (Scalar(place.x), Scalar(place.y))
            }
        }
        return try assemble(
            x, y, count: count, weights: inputs.weights, partitions: inputs.partitions, options, parallel,
            wrap)
    }

    /// Clusters projected points.
    static func assemble<Scalar: Coordinate>(
        _ x: Scratch<Scalar>, _ y: Scratch<Scalar>, count: Int, weights: [Double]?, partitions: [UInt32]?,
        _ options: ClusteringOptions, _ parallel: Parallel,
        _ wrap: (SpatialIndex<Scalar>) -> BaseIndex.Spatial
    ) throws(ClusteringError) -> ClusterIndex {
        let builder = IndexBuilder<Scalar>(
            x: x, y: y, pointCount: count, weights: weights, partitions: partitions,
            options: options, parallel: parallel)
        try parallel.stopIfCancelled()
        try builder.run()
        try parallel.stopIfCancelled()
        let table = builder.table
        let spatial = try SpatialOrder<Scalar>(
            table: table, pointX: x, pointY: y, options: options, parallel: parallel
        ).make()
        try parallel.stopIfCancelled()
        let (leaves, starts, leafCount) = LeafOrder.make(table, parallel: parallel)
        let base = BaseIndex(
            options: options, pointCount: count,
            columns: table.finish(
                leaves: leaves.finish(count: leafCount), leafStarts: starts.finish(count: table.count)),
            spatial: wrap(spatial))
        return ClusterIndex(LayeredIndex(base))
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
