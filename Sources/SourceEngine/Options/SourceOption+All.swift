// SPDX-License-Identifier: MIT
import Clustering
import JSON

extension SourceOption {
    /// All options, in the order of descriptions.
    public static let all: [SourceOption] = [
        SourceOption(
            "radius", .other, standard: RadiusOption.standard.source,
            "cluster radius in units of the extent: a number, or an expression of the zoom",
            read: { (options, value, path) throws(SourceError) in
                options.radius = try RadiusOption(reading: value, path: path)
            }, write: { $0.radius.source }),
        integer("extent", \.extent, in: 1...largestExtent, "width of a tile in units of the radius"),
        integer("minZoom", \.minZoom, in: 0...RadiusOption.highestZoom, "lowest zoom with clusters"),
        integer("maxZoom", \.maxZoom, in: 0...RadiusOption.highestZoom, "highest zoom with clusters"),
        integer("minPoints", \.minPoints, in: 1...Int(Int32.max), "fewest points of a cluster"),
        boolean(
            "generateId", \.generateId, "in tiles, use a point's index in the input as its id"),
        choice(
            "precision", \.precision, isAlwaysShown: true,
            "how positions are rounded before they are compared"),
        choice("clusterIds", \.clusterIds, "what ids of clusters are made from"),
        SourceOption(
            "projection", .other, standard: .string("mercator"), "what coordinates are: degrees, or units of a box",
            read: { (options, value, path) throws(SourceError) in
                options.projection = try ProjectionOption.read(value, path: path)
            },
            write: {
                guard case .planar(let box) = $0.projection else { return nil }
                return ProjectionOption.json(box)
            }),
        choice("geometries", \.geometries, "which geometries are valid, and where their points are"),
        SourceOption(
            "promoteId", .text, "the property to use as a feature's id",
            read: { (options, value, path) throws(SourceError) in
                options.promoteId = try OptionValue.string(value, path: path)
            }, write: { $0.promoteId.map { .string($0) } }),
        SourceOption(
            "ttlSeconds", .positiveNumber, "how many seconds a feature stays after its last import or update",
            read: { (options, value, path) throws(SourceError) in
                options.ttlSeconds = try OptionValue.positive(value, path: path)
            }, write: { $0.ttlSeconds.map { .number($0) } }),
        expression("filter", \.filter, "load only the features that pass", compile: ExpressionOption.filter),
        expression("weight", \.weight, "a point's weight in its cluster's centre", compile: ExpressionOption.weight),
        expression(
            "partitionBy", \.partitionBy, "cluster only points for which this is the same",
            compile: ExpressionOption.key),
        expression(
            "sortKey", \.sortKey, "cluster features in ascending order of this instead of input order",
            compile: ExpressionOption.key),
        SourceOption(
            "clusterProperties", .other, "aggregated properties of clusters, by name",
            read: { (options, value, path) throws(SourceError) in
                options.clusterProperties = try ExpressionOption.properties(value, path: path)
            },
            write: { options in
                guard !options.clusterProperties.isEmpty else { return nil }
                return .object(JSONObject(options.clusterProperties.map { (key: $0.name, value: $0.source) }))
            }),
        SourceOption(
            "indexedProperties", .other, "numbers of features by name, for windows, tops and histograms",
            read: { (options, value, path) throws(SourceError) in
                options.indexedProperties = try ExpressionOption.indexedProperties(value, path: path)
            },
            write: { options in
                guard !options.indexedProperties.isEmpty else { return nil }
                return .object(
                    JSONObject(options.indexedProperties.map { (key: $0.name, value: $0.value.source) }))
            }),
        SourceOption(
            "views", .other, "further ways to cluster the same features, by name: what differs from the source",
            read: { (options, value, path) throws(SourceError) in
                options.views = try ViewOption.read(value, of: options, path: path)
            },
            write: { options in
                guard !options.views.isEmpty else { return nil }
                return .object(JSONObject(options.views.map { (key: $0.name.text, value: $0.source) }))
            }),
    ]

    /// Far above any practical value. Keeps coordinates within the range of vector tiles.
    private static let largestExtent = 1 << 24
}
