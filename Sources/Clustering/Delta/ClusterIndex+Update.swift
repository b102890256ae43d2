// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// The index that the next added point gets: above those of all points that ever existed.
    public var pointLimit: Int { layers.delta.pointLimit }

    /// Whether `updated` can follow changes: pairs may cluster.
    ///
    /// If a cluster takes three points or more, nodes that failed to form one are passed on in another
    /// order than that of the input, so one point may change the order of all.
    public var takesUpdates: Bool { options.minimumPoints <= 2 }

    /// The index after changes. All answers, the order of nodes included, equal those of an index built from the resulting
    /// points; only ids of clusters differ. This index stays unchanged.
    ///
    /// Ids: a cluster that the changes leave unchanged keeps its id. A cluster that they make or change has an id of
    /// its own kind, which stays the same while a cluster of its zoom grows from the same point.
    ///
    /// - Parameters:
    ///   - threads: how many may work at the same time; the result does not depend on it.
    ///   - coordinates: the coordinates of a point that is neither among the changes nor was placed by earlier ones. Called
    ///     on any of the threads.
    /// - Returns: nil if following the changes would cost more than building again, or is not possible.
    /// - Complexity: the neighbourhoods of the changes and of the clusters above them, and a reference for
    ///   about every hundred nodes that earlier changes made.
    public func updated(
        _ changes: PointChanges, threads: Int = 1,
        coordinates: @Sendable (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        updated(changes, threads: threads, limit: Self.nodeLimit, coordinates: coordinates)
    }

    /// - Parameter limit: the most nodes that can be numbered.
    func updated(
        _ changes: PointChanges, threads: Int, limit: Int,
        coordinates: @Sendable (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        guard takesUpdates, changes.count <= max(64, pointCount / 16),
            2 * (pointLimit + changes.added.count) <= limit
        else { return nil }
        let changed: LayeredIndex? =
            switch layers.base.spatial {
            case .float(let spatial):
                withoutActuallyEscaping(coordinates) { run(changes, spatial, threads, $0) }
            case .double(let spatial):
                withoutActuallyEscaping(coordinates) { run(changes, spatial, threads, $0) }
            }
        // What a build makes has fewer clusters than points; updates leave numbers of former ones unused.
        guard let changed, 2 * changed.clusterLimit <= limit else { return nil }
        let made =
            UInt32(truncatingIfNeeded: layers.clusterLimit)..<UInt32(truncatingIfNeeded: changed.clusterLimit)
        return IndexUpdate(index: ClusterIndex(changed, lineage: lineage), made: made)
    }

    private func run<Scalar: Coordinate>(
        _ changes: PointChanges, _ spatial: SpatialIndex<Scalar>, _ threads: Int,
        _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> LayeredIndex? {
        var updater = IndexUpdater(
            layers: layers, spatial: spatial, threads: threads, coordinates: coordinates)
        return updater.run(changes) ? updater.layers : nil
    }
}
