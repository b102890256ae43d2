// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import JSON
import SourceStorage
import Synchronization
import SystemSupport

/// The clusters of some of a revision's features: of all that are loaded, or of those that pass a filter.
///
/// Points have their own numbers within a view, in the features' order, as if those features alone had been
/// loaded; so cluster ids are a view's own too. Immutable, and shared by all who query it.
public final class View: Sendable {
    public let index: ClusterIndex
    /// The features' places in the store by point, of a filter's view; nil in the view of all features.
    package let members: [UInt32]?
    /// Which feature each point is in the view of all features, if they are clustered in the order of a key.
    package let order: PointOrder?
    /// The extent of the points; nil if there are none, and for a filter's, where nobody asks.
    package let bounds: Box?
    package let aggregates: [NamedAggregate]
    /// What `partitionBy` gave, by the part's number.
    package let partitions: [JSONValue]
    /// What went wrong in aggregated properties, with how often, by message.
    package let propertyErrors: [PropertyError]
    /// What the writers of answers keep beside the view.
    package let cache = ViewCacheSlot()
    /// Made for a filter's view whose points are in another order, if input indexes are asked for.
    private let ascendingMembers = Mutex<[UInt32]?>(nil)

    package init(
        index: ClusterIndex, members: [UInt32]?, order: PointOrder? = nil, bounds: Box?,
        aggregates: [NamedAggregate] = [],
        partitions: [JSONValue] = [], propertyErrors: [PropertyError] = []
    ) {
        self.index = index
        self.members = members
        self.order = order
        self.bounds = bounds
        self.aggregates = aggregates
        self.partitions = partitions
        self.propertyErrors = propertyErrors
    }

    /// The place of a point's feature in the store.
    package func feature(of point: PointIndex) -> Int {
        if let members { return Int(members[Int(point.rawValue)]) }
        return order?.place(of: point) ?? Int(point.rawValue)
    }

    /// The point that a feature is; nil if the feature is not in this view.
    package func point(of feature: Int) -> PointIndex? {
        guard let members else {
            let same = PointIndex(rawValue: UInt32(truncatingIfNeeded: feature))
            guard let point = order == nil ? same : order?.point(at: feature) else { return nil }
            return index.contains(point) ? point : nil
        }
        // Members ascend, by the source's order.
        let position = position(of: feature)
        let index = members.partitionIndex { self.position(of: Int($0)) < position }
        guard index < members.count, Int(members[index]) == feature else { return nil }
        return PointIndex(rawValue: UInt32(index))
    }

    /// The points of features, in the order in which they are clustered.
    ///
    /// - Parameter places: the features' places, ascending, all in this view.
    package func points(at places: [UInt32]) -> [PointIndex] {
        guard let order else { return places.map { PointIndex(rawValue: $0) } }
        return order.sorted(places.compactMap { order.point(at: Int($0)) })
    }

    /// A number by which the source's features ascend in the order in which they are clustered.
    private func position(of feature: Int) -> UInt64 {
        guard let order, let point = order.point(at: feature) else { return UInt64(feature) }
        return order.label(of: point).rawValue
    }

    /// The index in the input of a point's feature, as if this view's features alone had been loaded.
    package func inputIndex(of point: PointIndex) -> Int {
        guard order != nil else { return index.inputPlace(of: point) }
        let place = feature(of: point)
        // Updates of such sources build everything again, so that there are no gaps.
        guard let members else { return place }
        let sorted = ascendingMembers.withLock { known in
            let sorted = known ?? members.sorted()
            known = sorted
            return sorted
        }
        return sorted.partitionIndex { Int($0) < place }
    }

    /// What `partitionBy` gave for a cluster's points; nil without that option.
    package func partition(of cluster: ClusterOrdinal) -> JSONValue? {
        guard let part = index.partition(of: cluster), Int(part) < partitions.count else { return nil }
        return partitions[Int(part)]
    }

    /// Bytes that finding clusters takes, the features' text and aggregates apart.
    package var indexBytes: Int {
        index.memoryBytes + (members?.count ?? 0) * MemoryLayout<UInt32>.stride
            + (members == nil ? order?.memoryBytes ?? 0 : 0)
    }

    /// Bytes that the view holds.
    package var memoryBytes: Int {
        indexBytes + aggregates.reduce(0) { $0 + $1.memoryBytes } + cache.memoryBytes
    }
}

/// One message of an expression's errors, with how many points or clusters had it.
package struct PropertyError: Sendable, Equatable {
    package let message: String
    package let count: Int
}
