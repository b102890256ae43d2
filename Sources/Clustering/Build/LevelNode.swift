// SPDX-License-Identifier: MIT

/// A node that is alive at a level, outside of any index: as it is stored while a level is clustered in parts.
public struct LevelNode: BitwiseCopyable, Sendable, Equatable {
    /// The position in the unit square: a cluster's exact centre, or a point's position as an index rounds it.
    public var x: Double
    public var y: Double
    /// The sum of its points' weights.
    public var weight: Double
    /// The rank, in the order of clustering, of the point from which it grew. No other node of the level has it.
    public var order: UInt32
    /// The number of points.
    public var count: UInt32
    /// Only nodes of the same partition cluster together.
    public var partition: UInt32
    /// The zoom at which the cluster formed; of a point, the deepest zoom plus one.
    public var zoom: UInt32

    public init(
        x: Double, y: Double, weight: Double, order: UInt32, count: UInt32, partition: UInt32, zoom: UInt32
    ) {
        (self.x, self.y, self.weight, self.order) = (x, y, weight, order)
        (self.count, self.partition, self.zoom) = (count, partition, zoom)
    }

    public var name: NodeName { NodeName(zoom: zoom, order: order) }
}

/// Identifies a node among those of all levels.
public struct NodeName: BitwiseCopyable, Sendable, Hashable {
    /// Of the point from which it grew.
    public let order: UInt32
    /// At which it formed; of a point, the deepest zoom plus one.
    public let zoom: UInt32

    public init(zoom: UInt32, order: UInt32) { (self.zoom, self.order) = (zoom, order) }
}

/// A cluster as a part of a level forms it. The names of its children are stored beside it, the node from which it grew
/// first, the others in order.
public struct FormedCluster: BitwiseCopyable, Sendable, Equatable {
    public var x: Double
    public var y: Double
    public var weight: Double
    public var order: UInt32
    public var count: UInt32
    public var zoom: UInt32
    public var childCount: UInt32

    public var name: NodeName { NodeName(zoom: zoom, order: order) }
}

extension FormedCluster {
    public init(_ node: LevelNode, childCount: Int) {
        self.init(
            x: node.x, y: node.y, weight: node.weight, order: node.order, count: node.count, zoom: node.zoom,
            childCount: UInt32(truncatingIfNeeded: childCount))
    }
}

/// A node that a part of a level leaves open at a zoom.
public struct OpenNode: BitwiseCopyable, Sendable, Equatable {
    /// As it is at the level below the zoom.
    public var node: LevelNode
    public var zoom: UInt32

    public init(_ node: LevelNode, zoom: UInt32) { (self.node, self.zoom) = (node, zoom) }
}

/// A node that another one claims at a zoom.
public struct ClaimedNode: BitwiseCopyable, Sendable, Equatable {
    /// As it is at the level below the zoom.
    public var node: LevelNode
    /// The claimant's order.
    public var claimant: UInt32
    public var zoom: UInt32

    public init(_ node: LevelNode, claimant: UInt32, zoom: UInt32) {
        (self.node, self.claimant, self.zoom) = (node, claimant, zoom)
    }
}

extension ClusteringOptions {
    /// The node of a point.
    ///
    /// - Parameter order: the point's rank in the order of clustering.
    public func node(
        longitude: Double, latitude: Double, weight: Double, order: UInt32, partition: UInt32
    ) -> LevelNode {
        let position = unitPosition(longitude, latitude)
        let isFloat = precision == .float
        return LevelNode(
            x: isFloat ? Double(Float(position.x)) : position.x, y: isFloat ? Double(Float(position.y)) : position.y,
            weight: weight, order: order, count: 1, partition: partition,
            zoom: UInt32(truncatingIfNeeded: maximumZoom + 1))
    }
}
