// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
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
    /// The values by which points can be counted and ranked, in the order in which they were given.
    public internal(set) var indexedProperties: [IndexedPropertyOption] = []
    /// Further ways to cluster the same features.
    public internal(set) var views: [ViewOption] = []

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

/// What cluster ids are derived from.
public enum ClusterIds: String, Sendable, CaseIterable {
    /// The index of the node that a cluster grew from, as in supercluster. The ids change with every build.
    case index
    /// The feature that a cluster grew from, and its zoom. The ids are the same in every revision and every daemon.
    case origin
}

/// A compiled expression of an option, with its JSON for descriptions.
public struct CompiledOption: Sendable {
    public let source: JSONValue
    public let expression: Expression
}

/// One indexed property: its name and the expression of its values.
public struct IndexedPropertyOption: Sendable {
    public let name: String
    public let value: CompiledOption

    /// The most of one source.
    public static let most = 8
}

/// One aggregated property, with its JSON for descriptions.
public struct ClusterPropertyOption: Sendable {
    public let name: String
    public let source: JSONValue
    public let property: ClusterProperty
}

extension SourceOptions {
    /// Reads options, compiling their expressions.
    ///
    /// Missing members keep their defaults. A member that is null, of the wrong type, out of its range or of an
    /// unknown name is rejected with its path.
    public init(reading value: JSONValue?, path: String = "options") throws(SourceError) {
        self.init()
        guard let value else { return }
        guard case .object(let object) = value else {
            throw .invalidParameter(path: path, message: "must be an object")
        }
        for (name, member) in object.members where name != Self.readLast {
            try read(name, member, path: "\(path).\(name)")
        }
        guard minZoom <= maxZoom else {
            throw .invalidParameter(path: "\(path).minZoom", message: "must not be above maxZoom, which is \(maxZoom)")
        }
        if let member = object[Self.readLast] { try read(Self.readLast, member, path: "\(path).\(Self.readLast)") }
    }

    /// What views leave out is as in the source, so all else is read before.
    private static let readLast = "views"

    private mutating func read(_ name: String, _ value: JSONValue, path: String) throws(SourceError) {
        guard let option = SourceOption.named(name) else {
            let names = SourceOption.all.map(\.name).joined(separator: ", ")
            throw .invalidParameter(path: path, message: "is not an option; valid options are \(names)")
        }
        try option.read(&self, value, path)
    }
}

extension SourceOptions {
    /// The options as JSON: always those with a default, the others if they were given.
    ///
    /// Reading the result again gives the same options.
    public var json: JSONValue { .object(members) }

    /// The same as an object.
    var members: JSONObject {
        JSONObject(
            SourceOption.all.compactMap { option in
                option.write(self).map { (key: option.name, value: $0) }
            })
    }
}

extension SourceOptions {
    /// Warnings about probable mistakes that do not depend on the data.
    var warnings: [String] {
        var warnings = hiddenProperties.map { name in
            "clusters have their own property \"\(name)\", which hides that of clusterProperties: give it another name"
        }
        let advice = filter.map { ExpressionOption.warnings(about: $0.source, named: "the option filter") } ?? []
        warnings += advice
        if advice.isEmpty, let value = filter?.expression.constant, value != .bool(true) {
            warnings.append(
                "the option filter gives \(value.text) for every feature, so none is loaded: compare a property, such as "
                    + "[\">\", [\"get\", \"population\"], 1000]")
        }
        return warnings
            + views.flatMap { view in
                view.options.warnings.filter { !warnings.contains($0) }.map { "the view \(view.name): \($0)" }
            }
    }

    private var hiddenProperties: [String] {
        clusterProperties.map(\.name).filter(ClusterProperty.ownNames.contains).sorted()
    }
}
