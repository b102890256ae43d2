// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// Whether `rebuilt` can make these changes: none of the points was ever removed or put between others.
    public func canBeRebuilt(with changes: PointChanges) -> Bool {
        changes.removed.isEmpty && changes.relabelled.isEmpty && layers.delta.removedPoints.isEmpty
            && !layers.delta.hasLabels && changes.added.allSatisfy { $0.label == nil }
    }

    /// Clusters all points at every zoom after changes that `canBeRebuilt` allows. The result is the same as that of
    /// `build` on the resulting coordinates, but those of unchanged points are neither read nor projected again.
    ///
    /// - Parameters:
    ///   - changes: of different points. Their weights and partitions are ignored.
    ///   - weights: a number above 0 for each point, which weights clusters' centres.
    ///   - partitions: a number for each point; only points with the same number cluster together.
    ///   - threads: how many cores may be used; the result does not depend on it.
    ///   - isCancelled: called several times per zoom, from any thread; once true it must stay true.
    /// - Complexity: that of `build`, without projecting.
    public func rebuilt(
        with changes: PointChanges, weights: [Double]? = nil, partitions: [UInt32]? = nil, threads: Int = 1,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> ClusterIndex {
        let count = pointLimit + changes.added.count
        guard 2 * count <= Self.nodeLimit else { throw .tooManyPoints(count) }
        guard (weights?.count ?? count) == count, (partitions?.count ?? count) == count else {
            throw .invalidOptions("weights and partitions must have one value for each point")
        }
        let parallel = Parallel(.awake, threads: threads, isCancelled: isCancelled)
        switch layers.base.spatial {
        case .float(let spatial):
            return try Self.assemble(
                try positions(after: changes, count, spatial, parallel), weights: weights, partitions: partitions,
                options, parallel
            ) { .float($0) }
        case .double(let spatial):
            return try Self.assemble(
                try positions(after: changes, count, spatial, parallel), weights: weights, partitions: partitions,
                options, parallel
            ) { .double($0) }
        }
    }

    /// All points' rounded positions after changes.
    private func positions<Scalar: Coordinate>(
        after changes: PointChanges, _ count: Int, _ spatial: SpatialIndex<Scalar>, _ parallel: Parallel
    ) throws(ClusteringError) -> PointColumns<Scalar> {
        let columns = PointColumns<Scalar>(x: Scratch(capacity: count), y: Scratch(capacity: count), count: count)
        parallel.fill(columns.x.base, count: count, with: 0)
        parallel.fill(columns.y.base, count: count, with: 0)
        parallel.forEachShare(of: spatial.layout.nodeCount) { _, slots in
            for index in slots {
                if parallel.stops(at: index) { return }
                let slot = spatial.slots[index]
                let node = Int(slot.node)
                guard node < layers.base.pointCount else { continue }
                (columns.x.base[node], columns.y.base[node]) = (slot.x, slot.y)
            }
        }
        try parallel.stopIfCancelled()
        if !layers.delta.isEmpty {
            parallel.forEachShare(of: pointLimit) { _, points in
                for point in points {
                    guard let placement = layers.delta.placement(of: UInt32(truncatingIfNeeded: point)) else {
                        continue
                    }
                    (columns.x.base[point], columns.y.base[point]) = (Scalar(placement.x), Scalar(placement.y))
                }
            }
        }
        for placements in [changes.moved, changes.added] {
            parallel.forEachShare(of: placements.count) { _, indexes in
                for placement in placements[indexes] where Int(placement.point.rawValue) < count {
                    let position = options.unitPosition(placement.longitude, placement.latitude)
                    let point = Int(placement.point.rawValue)
                    (columns.x.base[point], columns.y.base[point]) = (Scalar(position.x), Scalar(position.y))
                }
            }
        }
        return columns
    }
}
