// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Clusters some of this index's points at every zoom, with its options: the same as `build` makes of their
    /// coordinates, but these are neither asked for nor projected again.
    ///
    /// - Parameters:
    ///   - points: which, ascending and each once; they are numbered from 0 in that order.
    ///   - weights: a number above 0 for each of them, by which clusters' centres are weighted.
    ///   - partitions: a number for each of them; only points with the same one cluster together.
    ///   - threads: how many cores may be used; the outcome does not depend on it.
    ///   - isCancelled: asked several times a zoom, from any thread; once true it has to stay so.
    /// - Complexity: O(nodes of this index) and that of `build` for the points.
    public func subset(
        _ points: [UInt32], weights: [Double]? = nil, partitions: [UInt32]? = nil, threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> ClusterIndex {
        guard (weights?.count ?? points.count) == points.count,
            (partitions?.count ?? points.count) == points.count
        else { throw .invalidOptions("every point needs a weight and part where asked") }
        let parallel = Parallel(threads: threads, isCancelled: isCancelled)
        switch spatial {
        case .float(let spatial):
            let (x, y) = try places(of: points, spatial, parallel)
            return try Self.assemble(
                x, y, count: points.count, weights: weights, partitions: partitions, options, parallel
            ) { .float($0) }
        case .double(let spatial):
            let (x, y) = try places(of: points, spatial, parallel)
            return try Self.assemble(
                x, y, count: points.count, weights: weights, partitions: partitions, options, parallel
            ) { .double($0) }
        }
    }

    /// Where points are as they are compared, in the order of `points`.
    private func places<Scalar: Coordinate>(
        of points: [UInt32], _ spatial: SpatialIndex<Scalar>, _ parallel: Parallel
    ) throws(ClusteringError) -> (x: Scratch<Scalar>, y: Scratch<Scalar>) {
        let x = Scratch<Scalar>(repeating: 0, count: points.count)
        let y = Scratch<Scalar>(repeating: 0, count: points.count)
        // By point of the base, its place in `points`, or more than any.
        let ranks = Scratch<UInt32>(repeating: .max, count: basePointCount)
        for (rank, point) in points.enumerated() where Int(point) < basePointCount {
            ranks.base[Int(point)] = UInt32(truncatingIfNeeded: rank)
        }
        let count = spatial.layout.nodeCount
        let shares = parallel.shares(of: count)
        parallel.run(shares) { share in
            let (start, end) = Parallel.bounds(share, of: shares, count: count)
            for place in start..<end {
                if parallel.stops(at: place) { return }
                let slot = spatial.slots[place]
                guard Int(slot.node) < basePointCount else { continue }
                let rank = Int(ranks.base[Int(slot.node)])
                guard rank < points.count else { continue }
                x.base[rank] = slot.x
                y.base[rank] = slot.y
            }
        }
        try parallel.stopIfCancelled()
        guard let overlay else { return (x, y) }
        for (rank, point) in points.enumerated() {
            guard let place = overlay.state.placed[point] else { continue }
            let placement = overlay.state.placements[Int(place)]
            x.base[rank] = Scalar(placement.x)
            y.base[rank] = Scalar(placement.y)
        }
        return (x, y)
    }
}
