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
