// SPDX-License-Identifier: MIT

/// Points to be taken out of an index, put in, or put elsewhere.
public struct PointChanges: Sendable {
    public struct Placement: Sendable {
        public let point: PointIndex
        /// In degrees, -180 to 180.
        public let longitude: Double
        /// In degrees, -90 to 90.
        public let latitude: Double
        /// Above 0; without effect where the index's points are not weighted.
        public let weight: Double
        /// Without effect where the index's points are not parted.
        public let partition: UInt32

        public init(
            point: PointIndex, longitude: Double, latitude: Double, weight: Double = 1, partition: UInt32 = 0
        ) {
            self.point = point
            self.longitude = longitude
            self.latitude = latitude
            self.weight = weight
            self.partition = partition
        }
    }

    /// Points that go, each once.
    public var removed: [PointIndex] = []
    /// Points that stay at their place in the input and lie elsewhere, or whose clusters are to be made anew
    /// for another reason; each once.
    public var moved: [Placement] = []
    /// Points that come last in the input, numbered from the index's `pointLimit`.
    public var added: [Placement] = []

    public init() {}

    public var count: Int { removed.count + moved.count + added.count }
}

/// An index after changes.
public struct IndexUpdate: Sendable {
    public let index: ClusterIndex
    /// The clusters that the changes made, by ordinal: a cluster's children come before it.
    public let made: Range<UInt32>
}

extension ClusterIndex {
    /// The number that the next point put in gets: above all that ever were.
    public var pointLimit: Int { overlay?.state.pointLimit ?? basePointCount }

    /// Whether there are no changes beside what was built.
    public var isPlain: Bool { overlay == nil }

    /// How much the changes beside what was built have grown, in nodes: with it grow an update's cost and
    /// that of large listings, until an index is built anew.
    public var overlaySize: Int {
        overlay.map { $0.state.clusters.count + $0.state.placements.count + $0.state.removedPoints.count }
            ?? 0
    }

    /// Whether `updated` knows how: pairs may cluster.
    ///
    /// Where a cluster takes three points or more, nodes that failed to make one are passed on in another
    /// order than that of the input, and one point may change the order of all.
    public var takesUpdates: Bool { options.minimumPoints <= 2 }

    /// The index after changes: all answers, the order of nodes included, are those of the points that there
    /// are then, built anew; only ids of clusters differ. This index stays as it is.
    ///
    /// Ids: a cluster that the changes leave as it is keeps its id. One that they make or change has an id of
    /// its own kind, which stays for as long as there is a cluster of its zoom that grew from the same point.
    ///
    /// - Parameters:
    ///   - threads: how many may work at the same time; what comes out does not hang on it.
    ///   - coordinates: asked by any of them; where a point is that is neither among the changes nor was placed by earlier ones.
    /// - Returns: nil where following the changes would cost more than building anew, or is not known.
    /// - Complexity: the neighbourhoods of the changes and of the clusters above them, and a reference for
    ///   every hundred nodes or so that earlier changes made.
    public func updated(
        _ changes: PointChanges, threads: Int = 1,
        coordinates: @Sendable (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        guard takesUpdates, changes.count <= max(64, pointCount / 16),
            pointLimit + changes.added.count < Int(UInt32.max / 2)
        else { return nil }
        let state =
            overlay?.state ?? OverlayState(base: columns, pointCount: basePointCount, options: options)
        let first = state.baseClusterCount + state.clusters.count
        let changed: OverlayState? =
            switch spatial {
            case .float(let spatial):
                withoutActuallyEscaping(coordinates) { Self.run(changes, state, spatial, threads, $0) }
            case .double(let spatial):
                withoutActuallyEscaping(coordinates) { Self.run(changes, state, spatial, threads, $0) }
            }
        guard let changed else { return nil }
        let index = ClusterIndex(
            options: options, pointCount: basePointCount, columns: columns, spatial: spatial,
            overlay: IndexOverlay(changed), lineage: lineage)
        let end = changed.baseClusterCount + changed.clusters.count
        return IndexUpdate(
            index: index, made: UInt32(truncatingIfNeeded: first)..<UInt32(truncatingIfNeeded: end))
    }

    private static func run<Scalar: Coordinate>(
        _ changes: PointChanges, _ state: OverlayState, _ spatial: SpatialIndex<Scalar>,
        _ threads: Int, _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> OverlayState? {
        var updater = IndexUpdater(
            state: state, spatial: spatial, threads: threads, coordinates: coordinates)
        return updater.run(changes) ? updater.state : nil
    }
}
