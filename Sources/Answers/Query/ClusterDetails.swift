// SPDX-License-Identifier: MIT

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
