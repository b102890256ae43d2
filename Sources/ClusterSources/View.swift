// SPDX-License-Identifier: MIT
import Clustering
import JSON

/// The clusters of some of a revision's features: of all that are loaded, or of those that pass a filter.
///
/// Points are numbered anew within a view, in the features' order, as if those features alone had been
/// loaded; so cluster ids are a view's own too. Immutable, and shared by all who query it.
public final class View: Sendable {
    public let index: ClusterIndex
    /// The features' places in the store by point; nil where they are the same.
    let members: [UInt32]?
    /// The extent of the points; nil where there are none, and for a filter's, where nobody asks.
    let bounds: Box?
    let aggregates: [NamedAggregate]
    /// What `partitionBy` gave, by the part's number.
    let partitions: [JSONValue]
    /// What went wrong in aggregated properties, with how often, by message.
    let propertyErrors: [PropertyError]
    let hulls = HullCache()
    let printed: PrintedFeatures

    init(
        index: ClusterIndex, members: [UInt32]?, bounds: Box?, aggregates: [NamedAggregate] = [],
        partitions: [JSONValue] = [], propertyErrors: [PropertyError] = []
    ) {
        self.index = index
        self.members = members
        self.bounds = bounds
        self.aggregates = aggregates
        self.partitions = partitions
        self.propertyErrors = propertyErrors
        // A filter's views are many, and what they hold is counted when they are made.
        printed = PrintedFeatures(indexBytes: members == nil ? index.memoryBytes : 0)
    }

    /// The place of a point's feature in the store.
    func feature(of point: PointIndex) -> Int {
        guard let members else { return Int(point.rawValue) }
        return Int(members[Int(point.rawValue)])
    }

    /// The point that a feature is; nil where the feature is not in this view.
    func point(of feature: Int) -> PointIndex? {
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

    func cluster(_ id: Int64) throws(SourceError) -> ClusterOrdinal {
        guard let cluster = index.cluster(id: id) else { throw .clusterNotFound(id) }
        return cluster
    }

    /// What `partitionBy` gave for a cluster's points; nil without that option.
    func partition(of cluster: ClusterOrdinal) -> JSONValue? {
        guard let part = index.partition(of: cluster), Int(part) < partitions.count else { return nil }
        return partitions[Int(part)]
    }

    /// Bytes that finding clusters takes, the features' text and aggregates apart.
    var indexBytes: Int {
        index.memoryBytes + (members?.count ?? 0) * MemoryLayout<UInt32>.stride
    }

    /// Bytes that the view holds.
    var memoryBytes: Int {
        indexBytes + aggregates.reduce(0) { $0 + $1.memoryBytes } + printed.memoryBytes
    }
}

/// One aggregated property of all clusters of a view.
struct NamedAggregate: Sendable {
    let name: String
    /// The name as JSON with its colon, ready to be written.
    let key: [UInt8]
    let column: AggregateColumn
    /// Values of the clusters that updates made, whose ordinals come after those of `column`.
    let made: LiveColumn?
    /// Whether clusters tell something of their own under this name, which wins.
    let isHidden: Bool

    init(name: String, column: AggregateColumn, made: LiveColumn? = nil) {
        self.name = name
        self.column = column
        self.made = made
        isHidden = Self.builtIn.contains(name)
        var writer = ByteWriter()
        writer.append(json: name)
        writer.append(":")
        key = writer.bytes
    }

    var memoryBytes: Int { column.memoryBytes + (made?.memoryBytes ?? 0) }

    func write(_ cluster: ClusterOrdinal, of index: ClusterIndex, into bytes: inout ByteWriter) {
        guard let made, let place = column.placeBeyond(cluster) else {
            return column.write(cluster, of: index, into: &bytes)
        }
        made.write(Int(place), into: &bytes)
    }

    private static let builtIn: Set<String> = [
        "cluster", "cluster_id", "point_count", "point_count_abbreviated",
    ]
}

/// One message of an expression's errors, with how many points or clusters had it.
struct PropertyError: Sendable, Equatable {
    let message: String
    let count: Int
}
