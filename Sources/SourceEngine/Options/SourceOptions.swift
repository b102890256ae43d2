// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON

/// How a source's points become clusters. Names and defaults are supercluster's.
///
/// Options are immutable, and their expressions are compiled once.
/// `UpdateOptions` replaces a source's options as a whole.
public struct SourceOptions: Sendable {
    /// The cluster radius in units of `extent`, for each zoom.
    public internal(set) var radius = RadiusOption.standard
    /// The tile extent: the width of a tile in units of `radius`.
    public internal(set) var extent = 512
    /// The lowest zoom that has clusters of its own.
    public internal(set) var minZoom = 0
    /// The highest zoom that has clusters.
    public internal(set) var maxZoom = 16
    /// The fewest points that make a cluster.
    public internal(set) var minPoints = 2
    /// Whether a point's id in a tile is its index in the input.
    public internal(set) var generateId = false
    /// Whether positions are compared in 32 bits, as supercluster does, or in 64.
    public internal(set) var precision = ClusteringOptions.Precision.float
    /// What cluster ids are derived from.
    public internal(set) var clusterIds = ClusterIds.index
    /// How coordinates become positions on a map.
    public internal(set) var projection = Projection.mercator
    /// The property that serves as a feature's id.
    public internal(set) var promoteId: String?
    /// Which geometries are accepted, and which point represents each.
    public internal(set) var geometries = GeometryPlacing.point
    /// How long a feature stays after it was last upserted, in seconds.
    public internal(set) var ttlSeconds: Double?
    /// Features that do not pass it are not loaded.
    public internal(set) var filter: CompiledOption?
    /// The weight of a point in its cluster's centre.
    public internal(set) var weight: CompiledOption?
    /// Only points for which it returns the same value cluster together.
    public internal(set) var partitionBy: CompiledOption?
    /// Features are clustered in ascending order of it instead of input order.
    public internal(set) var sortKey: CompiledOption?
    /// The aggregated properties, in the order in which they were given.
    public internal(set) var clusterProperties: [ClusterPropertyOption] = []

    /// The defaults.
    public init() {}
}

extension SourceOptions {
    /// The rules for valid features.
    public var featureRules: FeatureRules {
        var rules = FeatureRules(promoteId: promoteId)
        rules.geometries = geometries
        if case .planar(let box) = projection {
            rules.bounds = CoordinateBounds(
                minX: box.minimumX, minY: box.minimumY, maxX: box.maximumX, maxY: box.maximumY)
        }
        return rules
    }

    /// The options of the index.
    package var clustering: ClusteringOptions {
        var options = ClusteringOptions(
            extent: Double(extent), minimumZoom: minZoom, maximumZoom: maxZoom, minimumPoints: minPoints,
            precision: precision, projection: projection)
        options.radii = radius.byZoom
        return options
    }
}
