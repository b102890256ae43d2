// SPDX-License-Identifier: MIT

/// Points to remove from an index, to add, or to move.
public struct PointChanges: Sendable {
    public struct Placement: Sendable, BitwiseCopyable {
        public let point: PointIndex
        /// In the units of the index's projection: degrees, or units of a plane.
        public let longitude: Double
        /// Likewise.
        public let latitude: Double
        /// Above 0; ignored if the index's points are not weighted.
        public let weight: Double
        /// Ignored if the index's points are not partitioned.
        public let partition: UInt32
        /// The order label of an added point; nil means last. Ignored for a moved point, which keeps its label.
        public let label: OrderLabel?

        public init(
            point: PointIndex, longitude: Double, latitude: Double, weight: Double = 1, partition: UInt32 = 0,
            label: OrderLabel? = nil
        ) {
            self.point = point
            self.longitude = longitude
            self.latitude = latitude
            self.weight = weight
            self.partition = partition
            self.label = label
        }
    }

    /// Points to remove, each once.
    public var removed: [PointIndex] = []
    /// Points that keep their position in the order but have other coordinates, or whose clusters must be remade
    /// for another reason; each once.
    public var moved: [Placement] = []
    /// Points that come last in the input, numbered from the index's `pointLimit`.
    public var added: [Placement] = []

    /// New labels of points that earlier updates added. They leave the order of all points unchanged.
    public var relabelled: [(point: PointIndex, label: OrderLabel)] = []

    public init() {}

    public var count: Int { removed.count + moved.count + added.count }
}

/// A node that left a level, with its former data: the same key may arrive again with another position.
struct Departure {
    let node: ShownNode
    /// Its former parent, or `NodeNumber.none`.
    let parent: UInt32

    var key: NodeKey { node.key }
}

/// The nodes that leave a level and those that come to it.
struct LevelChanges {
    var departed: [Departure] = []
    var arrived: [NodeKey] = []

    var isEmpty: Bool { departed.isEmpty && arrived.isEmpty }

    mutating func add(_ others: LevelChanges) {
        departed += others.departed
        arrived += others.arrived
    }
}

/// For each claimant, the visited nodes that it claims: lists in one block of memory.
struct ClaimedNodes {
    private var heads: NumberMap
    private var links: [(key: UInt32, next: UInt32)] = []

    init<Scalar>(_ level: GreedyPassUpdate<Scalar>) {
        heads = NumberMap(capacity: level.visits.count)
        for visit in level.visits {
            guard case .claimed(let claimant) = visit.new else { continue }
            let next = heads[claimant.rawValue] ?? .max
            heads.set(claimant.rawValue, UInt32(truncatingIfNeeded: links.count))
            links.append((visit.key.rawValue, next))
        }
    }

    func forEach(of claimant: UInt32, _ body: (UInt32) -> Void) {
        var link = heads[claimant] ?? .max
        while link != .max {
            body(links[Int(link)].key)
            link = links[Int(link)].next
        }
    }
}

/// An index after changes.
public struct IndexUpdate: Sendable {
    public let index: ClusterIndex
    /// The clusters that the changes made, by ordinal: a cluster's children have lower ordinals than the cluster.
    public let made: Range<UInt32>
}

extension ClusterIndex {
    /// The index that the next added point gets: one above those of all points that ever existed.
    public var pointLimit: Int { layers.delta.pointLimit }

    /// Whether `updated` can apply changes: it can if two points suffice for a cluster.
    ///
    /// If a cluster needs three points or more, nodes that failed to form one are passed to the next level in an
    /// order that differs from the input's, so one point may change the order of all.
    public var takesUpdates: Bool { options.minimumPoints <= 2 }

    /// Returns the index after changes. All answers, including the order of nodes, equal those of an index built
    /// from the resulting points; only ids of clusters differ. This index stays unchanged.
    ///
    /// Ids: a cluster that the changes do not affect keeps its id. A cluster that they create or change has an id
    /// of a different form, which stays the same while a cluster of its zoom grows from the same point.
    ///
    /// - Parameters:
    ///   - threads: how many threads may work at once; the result does not depend on it.
    ///   - isOnDisk: whether `coordinates` would have to read a point's from a disk. The result does not depend on
    ///     it. Called on any of the threads.
    ///   - coordinates: returns the coordinates of a point that is neither among the changes nor was placed by
    ///     earlier ones. Called on any of the threads.
    /// - Returns: nil if applying the changes would cost more than a rebuild, or is not possible.
    /// - Complexity: the neighbourhoods of the changes and of the clusters that contain them, plus one reference
    ///   for about every hundred nodes that earlier changes made.
    public func updated(
        _ changes: PointChanges, threads: Int = 1, isOnDisk: @escaping @Sendable (PointIndex) -> Bool = { _ in false },
        coordinates: @Sendable (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        updated(changes, threads: threads, limit: Self.nodeLimit, isOnDisk: isOnDisk, coordinates: coordinates)
    }

    /// - Parameter limit: the maximum number of nodes.
    func updated(
        _ changes: PointChanges, threads: Int, limit: Int,
        isOnDisk: @escaping @Sendable (PointIndex) -> Bool = { _ in false },
        coordinates: @Sendable (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> IndexUpdate? {
        guard takesUpdates, changes.count <= max(64, pointCount / 16),
            2 * (pointLimit + changes.added.count) <= limit
        else { return nil }
        let result: (LayeredIndex, any KeptLevels)? =
            switch layers.base.spatial {
            case .float(let spatial):
                withoutActuallyEscaping(coordinates) { run(changes, spatial, threads, isOnDisk, $0) }
            case .double(let spatial):
                withoutActuallyEscaping(coordinates) { run(changes, spatial, threads, isOnDisk, $0) }
            }
        // A built index has fewer clusters than points, but updates leave the numbers of former clusters unused.
        guard let (changed, levels) = result, 2 * changed.clusterLimit <= limit else { return nil }
        let made = UInt32(truncatingIfNeeded: layers.clusterLimit)..<UInt32(truncatingIfNeeded: changed.clusterLimit)
        return IndexUpdate(index: ClusterIndex(changed, lineage: lineage, levels: levels), made: made)
    }

    private func run<Scalar: Coordinate>(
        _ changes: PointChanges, _ spatial: SpatialIndex<Scalar>, _ threads: Int,
        _ isOnDisk: @escaping (PointIndex) -> Bool,
        _ coordinates: @escaping (PointIndex) -> (longitude: Double, latitude: Double)
    ) -> (LayeredIndex, any KeptLevels)? {
        let levels = takeLevels() as? UpdatedLevels<Scalar> ?? UpdatedLevels(layers, spatial)
        var updater = IndexUpdater(
            layers: layers, spatial: spatial, levels: levels, threads: threads, isOnDisk: isOnDisk,
            coordinates: coordinates)
        return updater.run(changes) ? (updater.layers, levels) : nil
    }
}
