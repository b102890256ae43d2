// SPDX-License-Identifier: MIT

/// Points to be taken out of an index, put in, or put elsewhere.
public struct PointChanges: Sendable {
    public struct Placement: Sendable {
        public let point: PointIndex
        /// In degrees, -180 to 180.
        public let longitude: Double
        /// In degrees, -90 to 90.
        public let latitude: Double
        /// Above 0; without effect if the index's points are not weighted.
        public let weight: Double
        /// Without effect if the index's points are not partitioned.
        public let partition: UInt32
        /// The label of an added point in the order; nil for last. It has no effect on a moved point, which keeps its label.
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

    /// Points that are removed, each once.
    public var removed: [PointIndex] = []
    /// Points that keep their position in the order and lie elsewhere, or whose clusters are to be made again
    /// for another reason; each once.
    public var moved: [Placement] = []
    /// Points that come last in the input, numbered from the index's `pointLimit`.
    public var added: [Placement] = []

    /// New labels of points that earlier updates added, which leave the order of all points unchanged.
    public var relabelled: [(point: PointIndex, label: OrderLabel)] = []

    public init() {}

    public var count: Int { removed.count + moved.count + added.count }
}
