// SPDX-License-Identifier: MIT

/// Points to remove from an index, to add, or to move.
public struct PointChanges: Sendable {
    public struct Placement: Sendable {
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
    let key: NodeKey
    /// Its former parent, or `NodeNumber.none`.
    let parent: UInt32
    let x: Double
    let y: Double
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
        var place = heads[claimant] ?? .max
        while place != .max {
            body(links[Int(place)].key)
            place = links[Int(place)].next
        }
    }
}

/// An index after changes.
public struct IndexUpdate: Sendable {
    public let index: ClusterIndex
    /// The clusters that the changes made, by ordinal: a cluster's children have lower ordinals than the cluster.
    public let made: Range<UInt32>
}
