// SPDX-License-Identifier: MIT
import GeoJSON
import SourceEngine

/// The query of `GetClusters`. A new member has a default here, and is read from the params by
/// `SourceCatalog.clustersQuery`.
public struct ClustersQuery: Sendable {
    public var box: Box
    /// Any finite number. Its floor is used, clamped to the source's zooms.
    public var zoom: Double
    /// The most features to return; nil for all.
    public var limit: Int?
    public var output = FeatureOutput()

    /// Members that it does not name have their defaults.
    public init(box: Box, zoom: Double, limit: Int? = nil, output: FeatureOutput = FeatureOutput()) {
        self.box = box
        self.zoom = zoom
        self.limit = limit
        self.output = output
    }
}

/// Which parts of each feature an answer contains. A new member has a default here, and is read from the params by
/// `SourceCatalog.output`.
public struct FeatureOutput: Sendable, Equatable {
    /// The properties to keep, of points and of aggregates; nil for all.
    public var properties: PropertySelection?
    /// The number of decimals of coordinates; nil for full precision.
    public var precision: Int?
    /// Additional properties of clusters.
    public var include: ClusterDetails = []
    /// What is shown of the view's points; nil for all.
    public var restriction: ViewRestriction?
    /// What features are written as.
    public var form = FeatureForm.json

    /// Members that it does not name have their defaults.
    public init(
        properties: PropertySelection? = nil, precision: Int? = nil, include: ClusterDetails = [],
        form: FeatureForm = .json
    ) {
        self.form = form
        self.properties = properties
        self.precision = precision
        self.include = include
    }
}

/// What features are written as.
public enum FeatureForm: Sendable, Equatable {
    /// GeoJSON, or a tile's JSON.
    case json
    /// Messages of `proto/clusterd/v1/clusterd.proto`.
    case protobuf(structProperties: Bool)

    /// How a message has properties; nil for JSON.
    @inline(__always) var structProperties: Bool? {
        if case .protobuf(let structProperties) = self { structProperties } else { nil }
    }
}

extension FeatureOutput {
    /// Whether features have all their properties and nothing else.
    var isWhole: Bool {
        var plain = self
        plain.form = .json
        return plain == FeatureOutput()
    }

    /// How many features may be written between two checks for cancellation. Costly details read all points of a
    /// cluster.
    var checkInterval: Int { include.isDisjoint(with: .costly) ? 256 : 1 }
}

extension Box {
    /// Advice about a box that shows nothing: its edges are probably in another order.
    ///
    /// - Parameter bounds: the extent of the source's points.
    func warnings(bounds: Box?) -> [String] {
        let order = "the order is [west, south, east, north]"
        if south > north { return ["the box's south is above its north: \(order)"] }
        let exchanged = Box(west: south, south: west, east: north, north: east)
        guard let bounds, !meets(bounds), exchanged.meets(bounds) else { return [] }
        return ["the source has no points in the box, but it has with longitudes and latitudes exchanged: \(order)"]
    }

    private func meets(_ other: Box) -> Bool {
        let isBeside = west > other.east || east < other.west
        return !isBeside && south <= other.north && north >= other.south
    }
}
