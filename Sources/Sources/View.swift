// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import JSON
import SourceStorage
import SystemSupport

/// The clusters of some of a revision's features: of all that are loaded, or of those that pass a filter.
///
/// Points are numbered anew within a view, in the features' order, as if those features alone had been
/// loaded; so cluster ids are a view's own too. Immutable, and shared by all who query it.
public final class View: Sendable {
    public let index: ClusterIndex
    /// The features' places in the store by point; nil where they are the same.
    package let members: [UInt32]?
    /// The extent of the points; nil where there are none, and for a filter's, where nobody asks.
    package let bounds: Box?
    package let aggregates: [NamedAggregate]
    /// What `partitionBy` gave, by the part's number.
    package let partitions: [JSONValue]
    /// What went wrong in aggregated properties, with how often, by message.
    package let propertyErrors: [PropertyError]
    /// What the writers of answers keep beside the view.
    package let cache = ViewCacheSlot()

    package init(
        index: ClusterIndex, members: [UInt32]?, bounds: Box?, aggregates: [NamedAggregate] = [],
        partitions: [JSONValue] = [], propertyErrors: [PropertyError] = []
    ) {
        self.index = index
        self.members = members
        self.bounds = bounds
        self.aggregates = aggregates
        self.partitions = partitions
        self.propertyErrors = propertyErrors
    }

    /// The place of a point's feature in the store.
    package func feature(of point: PointIndex) -> Int {
        guard let members else { return Int(point.rawValue) }
        return Int(members[Int(point.rawValue)])
    }

    /// The point that a feature is; nil where the feature is not in this view.
    package func point(of feature: Int) -> PointIndex? {
        guard let members else {
            let point = PointIndex(rawValue: UInt32(truncatingIfNeeded: feature))
            return index.contains(point) ? point : nil
        }
        // Members ascend.
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if Int(members[middle]) < feature { low = middle + 1 } else { high = middle }
        }
        guard low < members.count, Int(members[low]) == feature else { return nil }
        return PointIndex(rawValue: UInt32(low))
    }

    /// What `partitionBy` gave for a cluster's points; nil without that option.
    package func partition(of cluster: ClusterOrdinal) -> JSONValue? {
        guard let part = index.partition(of: cluster), Int(part) < partitions.count else { return nil }
        return partitions[Int(part)]
    }

    /// Bytes that finding clusters takes, the features' text and aggregates apart.
    package var indexBytes: Int {
        index.memoryBytes + (members?.count ?? 0) * MemoryLayout<UInt32>.stride
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
