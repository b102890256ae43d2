// SPDX-License-Identifier: MIT
import GeoJSON
import Sources
import SystemSupport

/// What `GetClusters` is asked.
public struct ClustersQuery: Sendable {
    public var box: Box
    /// Any finite number; its floor counts, within the zooms that the source has.
    public var zoom: Double
    /// The greatest number of features; nil for all.
    public var limit: Int?
    public var output: FeatureOutput

    public init(box: Box, zoom: Double, limit: Int? = nil, output: FeatureOutput = FeatureOutput()) {
        self.box = box
        self.zoom = zoom
        self.limit = limit
        self.output = output
    }
}

/// How much of each feature an answer contains.
public struct FeatureOutput: Sendable {
    /// The properties to keep, of points and of what clusters aggregate; nil for all.
    public var properties: PropertySelection?
    /// Decimals of coordinates; nil for all there are.
    public var precision: Int?
    /// Further members of clusters' properties.
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
    /// Whether features have the form that they have if the query asks for nothing in particular.
    var isWhole: Bool { properties == nil && precision == nil && include.isEmpty }

    /// How many features may be written between two looks for cancellation: each may cost its whole cluster.
    var checkInterval: Int { include.isDisjoint(with: .costly) ? 256 : 1 }
}

/// Further members of a cluster's properties.
public struct ClusterDetails: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The convex hull of its points, a GeoJSON geometry.
    public static let hull = ClusterDetails(rawValue: 1)
    /// The extent of its points; west is greater than east where it crosses the antimeridian.
    public static let bounds = ClusterDetails(rawValue: 2)
    /// The zoom at which it falls into its children.
    public static let expansionZoom = ClusterDetails(rawValue: 4)
    /// Whether all its points are at one place.
    public static let coincident = ClusterDetails(rawValue: 8)
    /// The place of the point nearest to its centre.
    public static let anchor = ClusterDetails(rawValue: 16)

    /// The key of the feature that a marker grew from; of points too. A member of the feature, not of its properties.
    public static let key = ClusterDetails(rawValue: 32)
    /// Offsets in pixels at which to draw the points of a cluster whose points are all at one location.
    public static let spider = ClusterDetails(rawValue: 64)

    /// Details that look at each of a cluster's points.
    public static let costly: ClusterDetails = [.hull, .bounds, .coincident, .anchor, .spider]

    /// The details by the names that calls use.
    public static let byName: [(name: String, detail: ClusterDetails)] = [
        ("hull", .hull), ("bbox", .bounds), ("expansionZoom", .expansionZoom),
        ("coincident", .coincident), ("anchor", .anchor), ("key", .key), ("spider", .spider),
    ]
}
