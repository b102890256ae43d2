// SPDX-License-Identifier: MIT
import GeoJSON
import Sources
import SystemSupport

/// The query of `GetClusters`.
public struct ClustersQuery: Sendable {
    public var box: Box
    /// Any finite number. Its floor is used, clamped to the source's zooms.
    public var zoom: Double
    /// The most features to return; nil for all.
    public var limit: Int?
    public var output: FeatureOutput

    public init(box: Box, zoom: Double, limit: Int? = nil, output: FeatureOutput = FeatureOutput()) {
        self.box = box
        self.zoom = zoom
        self.limit = limit
        self.output = output
    }
}

/// Which parts of each feature an answer contains.
public struct FeatureOutput: Sendable {
    /// The properties to keep, of points and of aggregates; nil for all.
    public var properties: PropertySelection?
    /// The number of decimals of coordinates; nil for full precision.
    public var precision: Int?
    /// Additional properties of clusters.
    public var include: ClusterDetails

    public init(
        properties: PropertySelection? = nil, precision: Int? = nil, include: ClusterDetails = []
    ) {
        self.properties = properties
        self.precision = precision
        self.include = include
    }
}

extension FeatureOutput {
    /// Whether features have their default form.
    var isWhole: Bool { properties == nil && precision == nil && include.isEmpty }

    /// How many features may be written between two checks for cancellation. Costly details read all points of a cluster.
    var checkInterval: Int { include.isDisjoint(with: .costly) ? 256 : 1 }
}

/// Additional properties of a cluster.
public struct ClusterDetails: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The convex hull of its points, a GeoJSON geometry.
    public static let hull = ClusterDetails(rawValue: 1)
    /// The extent of its points. West is greater than east if it crosses the antimeridian.
    public static let bounds = ClusterDetails(rawValue: 2)
    /// The zoom at which it splits into its children.
    public static let expansionZoom = ClusterDetails(rawValue: 4)
    /// Whether all its points coincide.
    public static let coincident = ClusterDetails(rawValue: 8)
    /// The location of the point nearest to its centre.
    public static let anchor = ClusterDetails(rawValue: 16)

    /// The key of the feature that a marker grew from. Points have it too. A member of the feature, not of its properties.
    public static let key = ClusterDetails(rawValue: 32)
    /// Offsets in pixels at which to draw the points of a cluster whose points are all at one location.
    public static let spider = ClusterDetails(rawValue: 64)

    /// Details that read each of a cluster's points.
    public static let costly: ClusterDetails = [.hull, .bounds, .coincident, .anchor, .spider]

    /// The details by their names in calls.
    public static let byName: [(name: String, detail: ClusterDetails)] = [
        ("hull", .hull), ("bbox", .bounds), ("expansionZoom", .expansionZoom),
        ("coincident", .coincident), ("anchor", .anchor), ("key", .key), ("spider", .spider),
    ]
}
