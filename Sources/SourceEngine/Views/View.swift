// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import GeoJSON
import ImageStore
import JSON
import Synchronization
import SystemSupport

/// The clusters of some of a revision's features: of all that are loaded, or of those that a named view shows or that
/// pass a filter.
///
/// Points are numbered within a view, in the features' order, as if only those features had been
/// loaded. So cluster ids differ between views too. Immutable, and shared by all its readers.
public final class View: Sendable {
    public let index: ClusterIndex
    /// By point, the feature's row in the store, for the view of a query's filter; else nil.
    package let members: [UInt32]?
    /// The feature of each point, if features are clustered in the order of a key, or only some are. Without it, a
    /// point has the number of its feature's row.
    package let order: PointOrder?
    /// Whether the arrays of the order are those of the source's own clusters.
    package let sharesOrder: Bool
    /// The features that the index was built of, if it was built beside changes and in the order of a key. Else they
    /// are the store's plain base.
    package let built: FeatureStore?
    /// The extent of the points; nil without points, and for the view of a query's filter.
    package let bounds: Box?
    package let aggregates: [NamedAggregate]
    /// The values of `partitionBy`, by the partition's number.
    package let partitions: [JSONValue]
    /// Errors in aggregated properties by message, with their counts.
    package let propertyErrors: [PropertyError]
    /// Advice about the filter, if nothing passes it or it is probably not what was meant: sentences that say what to
    /// do.
    package let warnings: [String]
    /// The points' indexed values; nil without that option, and for the view of a filter, which has them in `filtered`.
    package let values: PointValues?
    /// The indexed values of a filter's view by name, arranged on first use.
    let filtered = Mutex<[String: FilteredValues]>([:])
    /// Whether the index already has changes that are still to be replayed (see `Checkpoint`). Such a view is never
    /// served.
    package let isAhead: Bool
    /// Whether its readers see only a part of the source, and must not learn anything of the rest.
    package let isRestricted: Bool
    /// The fewest points of a cluster that is shown; below 2: points are shown too.
    package let leastCount: Int
    /// The view of all that its readers may see, if that is not this one.
    let seen: View?
    /// By cluster, the number of the feature that it grew from (`FeatureCodes`), if a file has them; else nil.
    package let clusterCodes: SectionValues<UInt64>?
    /// What the writers of answers cache for the view.
    private let cached = Mutex<ViewCache?>(nil)
    /// The features with equal hashes, of a view whose readers see only a part of the source.
    let featureGroups = FeatureCodes.Groups()
    /// The claim of the memory of a filter's view.
    private let claim = Mutex<MemoryClaim?>(nil)
    /// Built if input indexes are requested of a filter's view whose points are in another order.
    private let ascendingMembers = Mutex<[UInt32]?>(nil)

    package init(
        index: ClusterIndex, members: [UInt32]?, order: PointOrder? = nil, sharesOrder: Bool = false,
        built: FeatureStore? = nil, bounds: Box?, aggregates: [NamedAggregate] = [],
        partitions: [JSONValue] = [], propertyErrors: [PropertyError] = [], warnings: [String] = [],
        values: PointValues? = nil, isAhead: Bool = false, isRestricted: Bool = false, leastCount: Int = 0,
        seen: View? = nil, clusterCodes: SectionValues<UInt64>? = nil
    ) {
        self.index = index
        self.members = members
        self.order = order
        self.sharesOrder = sharesOrder
        self.built = built
        self.bounds = bounds
        self.aggregates = aggregates
        self.partitions = partitions
        self.propertyErrors = propertyErrors
        self.warnings = warnings
        self.values = values
        self.isAhead = isAhead
        self.isRestricted = isRestricted
        self.leastCount = leastCount
        self.seen = seen
        self.clusterCodes = clusterCodes
    }

    /// The view's cache, made on first use.
    package func cache<Cache: ViewCache>(_ make: () -> Cache) -> Cache {
        cached.withLock { cached in
            if let known = cached as? Cache { return known }
            let made = make()
            cached = made
            return made
        }
    }

    /// The same view with the numbers of the features that its clusters grew from.
    package func with(_ clusterCodes: SectionValues<UInt64>) -> View {
        View(
            index: index, members: members, order: order, sharesOrder: sharesOrder, built: built, bounds: bounds,
            aggregates: aggregates, partitions: partitions, propertyErrors: propertyErrors, warnings: warnings,
            values: values, isAhead: isAhead, isRestricted: isRestricted, leastCount: leastCount, seen: seen,
            clusterCodes: clusterCodes)
    }

    /// Lets the pages be read from the disk side by side that follow from some nodes: of their positions in the order, and of
    /// clusters' ids.
    package func willRead(_ nodes: some Sequence<Node>) {
        guard !index.isResident else { return }
        var (points, clusters): ([PointIndex], [Int]) = ([], [])
        for node in nodes {
            switch node {
            case .point(let point): points.append(point)
            case .cluster(let cluster): clusters.append(Int(cluster.rawValue))
            }
        }
        if members == nil { order?.willRead(points) }
        clusterCodes?.willRead(clusters)
    }

    /// Holds the claim of the view's memory while the view exists.
    func hold(_ claim: MemoryClaim) { self.claim.withLock { $0 = claim } }

    /// Whether a node is shown, and not hidden because it has too few points.
    package func shows(_ node: Node) -> Bool {
        guard leastCount > 1 else { return true }
        guard case .cluster(let cluster) = node else { return false }
        return index.pointCount(of: cluster) >= leastCount
    }

    /// The same view with an index that has changes which are still to be replayed, and what has been replayed.
    func ahead(
        _ index: ClusterIndex, bounds: Box?, order: PointOrder? = nil, partitions: [JSONValue]? = nil,
        values: PointValues? = nil
    ) -> View {
        View(
            index: index, members: nil, order: order ?? self.order, sharesOrder: sharesOrder, bounds: bounds,
            aggregates: aggregates, partitions: partitions ?? self.partitions, values: values ?? self.values,
            isAhead: true)
    }

    /// The same view once all has been replayed.
    func caughtUp(_ aggregates: [NamedAggregate]) -> View {
        View(
            index: index, members: nil, order: order, sharesOrder: sharesOrder, bounds: bounds, aggregates: aggregates,
            partitions: partitions, values: values)
    }

    /// The row of a point's feature in the store.
    package func feature(of point: PointIndex) -> Int {
        if let members { return Int(members[Int(point.rawValue)]) }
        return order?.row(of: point) ?? Int(point.rawValue)
    }

    /// The point of a feature; nil if the feature is not in this view.
    package func point(of feature: Int) -> PointIndex? {
        guard let members else {
            let same = PointIndex(rawValue: UInt32(truncatingIfNeeded: feature))
            guard let point = order == nil ? same : order?.point(at: feature) else { return nil }
            return index.contains(point) ? point : nil
        }
        // Members ascend in the source's order.
        let position = position(of: feature)
        let index = members.partitionIndex { self.position(of: Int($0)) < position }
        guard index < members.count, Int(members[index]) == feature else { return nil }
        return PointIndex(rawValue: UInt32(index))
    }

    /// The points of features, in the order in which they are clustered.
    ///
    /// - Parameter rows: the features' rows, ascending, all in this view.
    package func points(at rows: [UInt32]) -> [PointIndex] {
        guard let order else { return rows.map { PointIndex(rawValue: $0) } }
        return order.sorted(rows.compactMap { order.point(at: Int($0)) })
    }

    /// A number that ascends in the order in which the source's features are clustered.
    private func position(of feature: Int) -> UInt64 {
        guard let order, let point = order.point(at: feature) else { return UInt64(feature) }
        return order.label(of: point).rawValue
    }

    /// The index in the input of a point's feature, as if only this view's features had been loaded.
    package func inputIndex(of point: PointIndex) -> Int {
        guard let order else { return index.inputIndex(of: point) }
        let row = feature(of: point)
        // Updates of such sources and views rebuild everything, so there are no gaps.
        guard let members else { return order.rank(of: row) }
        let sorted = ascendingMembers.withLock { known in
            let sorted = known ?? members.sorted()
            known = sorted
            return sorted
        }
        return sorted.partitionIndex { Int($0) < row }
    }

    /// The value of `partitionBy` for a cluster's points; nil without that option.
    package func partition(of cluster: ClusterOrdinal) -> JSONValue? {
        guard let part = index.partition(of: cluster), Int(part) < partitions.count else { return nil }
        return partitions[Int(part)]
    }

    /// Bytes of the index itself, in memory and in a file, without the features' text and aggregates.
    package var indexBytes: Int {
        index.memoryBytes + index.fileBytes + (members?.count ?? 0) * MemoryLayout<UInt32>.stride
            + (members == nil && !sharesOrder ? order?.memoryBytes ?? 0 : 0)
    }

    /// Bytes of memory that the view holds.
    package var memoryBytes: Int {
        indexBytes - index.fileBytes + aggregates.reduce(values?.memoryBytes ?? 0) { $0 + $1.memoryBytes }
            + (cached.withLock { $0 }?.memoryBytes ?? 0)
    }
}

/// What a layer above caches for a view during the view's life. Subclasses are safe from any thread.
open class ViewCache: @unchecked Sendable {
    public init() {}

    /// Bytes of memory held.
    open var memoryBytes: Int { 0 }
}

/// An expression's error message, with the number of points or clusters that had it.
package struct PropertyError: Sendable, Equatable {
    package let message: String
    package let count: Int
}

/// A box in degrees. It may be wider than the world, wrapped around it, or cross the antimeridian.
public struct Box: Sendable, Equatable {
    public var west: Double
    public var south: Double
    public var east: Double
    public var north: Double

    public init(west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// Nil unless there are four edges: west, south, east and north.
    package init?(edges: [Double]) {
        guard edges.count == 4 else { return nil }
        self.init(west: edges[0], south: edges[1], east: edges[2], north: edges[3])
    }

    /// West, south, east and north.
    package var edges: [Double] { [west, south, east, north] }

    /// The whole world.
    public static let world = Box(west: -180, south: -90, east: 180, north: 90)

    /// The empty extent, to be widened point by point.
    package static let nowhere = Box(west: .infinity, south: .infinity, east: -.infinity, north: -.infinity)

    /// Widens the box to contain a location, ignoring the antimeridian.
    package mutating func include(_ location: (longitude: Double, latitude: Double)) {
        west = min(west, location.longitude)
        south = min(south, location.latitude)
        east = max(east, location.longitude)
        north = max(north, location.latitude)
    }
}

/// The indexed values of a filter's view for one property, and the claim of their memory.
struct FilteredValues {
    let values: PointValues
    let claim: MemoryClaim
}

extension FeatureCodes {
    /// The codes for readers of a view. If they see only a part of the source, features that they do not see have no
    /// rank: else the numbers would show that there are others with the same id.
    package func seen(in view: View) -> FeatureCodes {
        guard view.isRestricted else { return self }
        let seen = view.seen ?? view
        return counting(seen.featureGroups) { seen.point(of: $0) != nil }
    }
}
