// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// Clusters a subset of this index's points at every zoom, with its options. The result is the same as that
    /// of `build` on their coordinates, but these are neither read nor projected again.
    ///
    /// - Parameters:
    ///   - points: the points, ascending and each once; they are numbered from 0 in that order.
    ///   - weights: a number above 0 for each of them, which weights clusters' centres.
    ///   - partitions: a number for each of them; only points with the same number cluster together.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called several times per zoom, from any thread; once true it must stay true.
    /// - Complexity: O(nodes of this index) plus that of `build` for the points.
    public func subset(
        _ points: [UInt32], weights: [Double]? = nil, partitions: [UInt32]? = nil, threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> ClusterIndex {
        guard (weights?.count ?? points.count) == points.count,
            (partitions?.count ?? points.count) == points.count
        else { throw .invalidOptions("weights and partitions must have one value for each point") }
        let parallel = Parallel(.awake, threads: threads, isCancelled: isCancelled)
        switch layers.base.spatial {
        case .float(let spatial):
            return try Self.assemble(
                try places(of: points, spatial, parallel), weights: weights, partitions: partitions, options,
                parallel
            ) { .float($0) }
        case .double(let spatial):
            return try Self.assemble(
                try places(of: points, spatial, parallel), weights: weights, partitions: partitions, options,
                parallel
            ) { .double($0) }
        }
    }

    /// Points' rounded positions, in the order of `points`.
    private func places<Scalar: Coordinate>(
        of points: [UInt32], _ spatial: SpatialIndex<Scalar>, _ parallel: Parallel
    ) throws(ClusteringError) -> PointColumns<Scalar> {
        let x: Scratch<Scalar> = Self.filled(0, points.count, parallel)
        let y: Scratch<Scalar> = Self.filled(0, points.count, parallel)
        let ranks = ranks(of: points, parallel)
        let count = spatial.layout.nodeCount
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            for place in start..<end {
                if parallel.stops(at: place) { return }
                let slot = spatial.slots[place]
                guard Int(slot.node) < layers.base.pointCount else { continue }
                let rank = Int(ranks.base[Int(slot.node)])
                guard rank < points.count else { continue }
                x.base[rank] = slot.x
                y.base[rank] = slot.y
            }
        }
        try parallel.stopIfCancelled()
        let columns = PointColumns(x: x, y: y, count: points.count)
        guard !layers.delta.isEmpty else { return columns }
        for (rank, point) in points.enumerated() {
            guard let placement = layers.delta.placement(of: point) else { continue }
            x.base[rank] = Scalar(placement.x)
            y.base[rank] = Scalar(placement.y)
        }
        return columns
    }

    private static func filled<Value: BitwiseCopyable>(
        _ value: Value, _ count: Int, _ parallel: Parallel
    ) -> Scratch<Value> {
        let filled = Scratch<Value>(capacity: count)
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            (filled.base + start).initialize(repeating: value, count: end - start)
        }
        return filled
    }

    /// For each point of the base, its index in `points`, or `UInt32.max`.
    private func ranks(of points: [UInt32], _ parallel: Parallel) -> Scratch<UInt32> {
        let ranks = Self.filled(UInt32.max, layers.base.pointCount, parallel)
        let shares = parallel.shares(of: points.count)
        points.withUnsafeBufferPointer { points in
            parallel.run(shares) { share in
                let (start, end) = Parallel.bounds(share, of: shares, count: points.count)
                for rank in start..<end where Int(points[rank]) < layers.base.pointCount {
                    ranks.base[Int(points[rank])] = UInt32(truncatingIfNeeded: rank)
                }
            }
        }
        return ranks
    }
}
