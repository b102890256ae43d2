// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// Clusters a subset of this index's points at every zoom. The result is the same as that of `build` on their
    /// coordinates, but these are neither read nor projected again.
    ///
    /// - Parameters:
    ///   - points: the points, each once; they are numbered from 0 in that order.
    ///   - options: nil for this index's own. Others must have its precision and projection, by which positions are
    ///     rounded.
    ///   - weights: a number above 0 for each of them, which weights clusters' centres.
    ///   - partitions: a number for each of them; only points with the same number cluster together.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called several times per zoom, from any thread; once true it must stay true.
    /// - Complexity: O(nodes of this index) plus that of `build` for the points.
    public func subset(
        _ points: [UInt32], options: ClusteringOptions? = nil, weights: [Double]? = nil, partitions: [UInt32]? = nil,
        threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> ClusterIndex {
        guard (weights?.count ?? points.count) == points.count,
            (partitions?.count ?? points.count) == points.count
        else { throw .invalidOptions("weights and partitions must have one value for each point") }
        let options = options ?? self.options
        try options.validate()
        guard options.precision == self.options.precision, options.projection == projection else {
            throw .invalidOptions("the points were rounded by another precision or projection")
        }
        let parallel = Parallel(.awake, threads: threads, isCancelled: isCancelled)
        switch layers.base.spatial {
        case .float(let spatial):
            return try Self.assemble(
                try positions(of: points, spatial, parallel), weights: weights, partitions: partitions, options,
                parallel
            ) { .float($0) }
        case .double(let spatial):
            return try Self.assemble(
                try positions(of: points, spatial, parallel), weights: weights, partitions: partitions, options,
                parallel
            ) { .double($0) }
        }
    }

    /// Points' rounded positions, in the order of `points`.
    private func positions<Scalar: Coordinate>(
        of points: [UInt32], _ spatial: SpatialIndex<Scalar>, _ parallel: Parallel
    ) throws(ClusteringError) -> PointColumns<Scalar> {
        let columns = PointColumns<Scalar>(
            x: Scratch(capacity: points.count), y: Scratch(capacity: points.count), count: points.count)
        parallel.fill(columns.x.base, count: points.count, with: 0)
        parallel.fill(columns.y.base, count: points.count, with: 0)
        let ranks = ranks(of: points, parallel)
        parallel.forEachShare(of: spatial.layout.nodeCount) { _, slots in
            for index in slots {
                if parallel.stops(at: index) { return }
                let slot = spatial.slots[index]
                guard Int(slot.node) < layers.base.pointCount else { continue }
                let rank = Int(ranks.base[Int(slot.node)])
                guard rank < points.count else { continue }
                columns.x.base[rank] = slot.x
                columns.y.base[rank] = slot.y
            }
        }
        try parallel.stopIfCancelled()
        guard !layers.delta.isEmpty else { return columns }
        for (rank, point) in points.enumerated() {
            guard let placement = layers.delta.placement(of: point) else { continue }
            columns.x.base[rank] = Scalar(placement.x)
            columns.y.base[rank] = Scalar(placement.y)
        }
        return columns
    }

    /// For each point of the base, its index in `points`, or `UInt32.max`.
    private func ranks(of points: [UInt32], _ parallel: Parallel) -> Scratch<UInt32> {
        let ranks = Scratch<UInt32>(capacity: layers.base.pointCount)
        parallel.fill(ranks.base, count: layers.base.pointCount, with: UInt32.max)
        points.withUnsafeBufferPointer { points in
            parallel.forEachShare(of: points.count) { _, range in
                for rank in range where Int(points[rank]) < layers.base.pointCount {
                    ranks.base[Int(points[rank])] = UInt32(truncatingIfNeeded: rank)
                }
            }
        }
        return ranks
    }
}
