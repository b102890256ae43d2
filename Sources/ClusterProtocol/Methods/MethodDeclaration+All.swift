// SPDX-License-Identifier: MIT
import JSON

/// The methods of the contract, each declared once.
extension MethodDeclaration {
    /// All methods, in the order in which they are listed.
    public static let all: [MethodDeclaration] = [
        getClusters, getTile, getChildren, getLeaves, getClusterExpansionZoom, getConvexHull, locateFeature,
        watchClusters, createSource, importFeatures, loadFile, updateFeatures, updateOptions, publishTiles,
        deleteSource, getFeatures, getSource, listSources, evaluateExpression, check, getServerInfo, getStats,
    ]

    // MARK: ClusterService

    public static let getClusters = MethodDeclaration(
        .cluster, "GetClusters", right: .query, on: .query, params: viewport,
        "Clusters and points in a box at a zoom.")
    public static let getTile = MethodDeclaration(
        .cluster, "GetTile", right: .query, on: .query,
        params: [
            "source", "z", "x", "y", "encoding", "filter", "properties", "include", "revision", "atLeast",
        ],
        "The features of a tile, as JSON or as a Mapbox Vector Tile.")
    public static let getChildren = MethodDeclaration(
        .cluster, "GetChildren", right: .query, on: .query, params: cluster,
        "A cluster's children on the next zoom.")
    public static let getLeaves = MethodDeclaration(
        .cluster, "GetLeaves", right: .query, on: .query, params: cluster + ["limit", "offset"],
        "A page of a cluster's points.")
    public static let getClusterExpansionZoom = MethodDeclaration(
        .cluster, "GetClusterExpansionZoom", right: .query, on: .query, params: cluster,
        "The zoom at which a cluster splits.")
    public static let getConvexHull = MethodDeclaration(
        .cluster, "GetConvexHull", right: .query, on: .query, params: cluster,
        "The smallest convex shape around a cluster's points.")
    public static let locateFeature = MethodDeclaration(
        .cluster, "LocateFeature", right: .query, on: .query,
        params: ["source", "featureId", "zoom", "filter", "revision", "atLeast"], keepsParamsText: true,
        "The cluster or point that shows a feature at a zoom.")
    public static let watchClusters = MethodDeclaration(
        .cluster, "WatchClusters", .both, right: .query, on: .query,
        params: viewport + ["maxRateHz", "transitions"],
        "A viewport's changes as they happen.")

    private static let viewport = [
        "source", "bbox", "zoom", "limit", "properties", "precision", "filter", "include", "revision",
        "atLeast",
    ]
    private static let cluster = ["source", "clusterId", "filter", "zoom", "revision", "atLeast"]

    // MARK: SourceService

    public static let createSource = MethodDeclaration(
        .source, "CreateSource", right: .manage, on: .change, params: ["source", "options"],
        "Makes an empty source with options.")
    public static let importFeatures = MethodDeclaration(
        .source, "ImportFeatures", .clientStream, right: .manage, on: .change,
        params: ["source"] + imports + table, "Imports features, all or nothing.")
    public static let loadFile = MethodDeclaration(
        .source, "LoadFile", right: .manage, on: .change, params: ["source", "path"] + imports + table,
        "Imports features from a file that the daemon reads.")
    public static let publishTiles = MethodDeclaration(
        .source, "PublishTiles", .serverStream, right: .manage, on: .change,
        params: [
            "source", "path", "minZoom", "maxZoom", "filter", "properties", "include", "compression", "name",
            "description", "attribution", "overwrite", "estimate", "revision", "atLeast",
        ], "Writes all tiles as a PMTiles archive.")
    public static let updateFeatures = MethodDeclaration(
        .source, "UpdateFeatures", right: .manage, on: .change, params: ["source", "upsert", "remove"],
        keepsParamsText: true, textParams: ["upsert"], "Adds, replaces and removes features by id.")
    public static let updateOptions = MethodDeclaration(
        .source, "UpdateOptions", right: .manage, on: .change, params: ["source", "options"],
        "Changes a source's options and clusters it again.")
    public static let deleteSource = MethodDeclaration(
        .source, "DeleteSource", right: .manage, on: .change, params: ["source"], "Removes a source.")
    public static let getFeatures = MethodDeclaration(
        .source, "GetFeatures", .serverStream, right: .query, on: .query,
        params: ["source", "filter", "properties", "precision", "revision", "atLeast"],
        "All features of one revision, as they were sent.")
    public static let getSource = MethodDeclaration(
        .source, "GetSource", right: .query, on: .loop, params: ["source"], "A source's description.")
    public static let listSources = MethodDeclaration(
        .source, "ListSources", right: .query, on: .loop, params: [], "All sources' descriptions, by name.")
    public static let evaluateExpression = MethodDeclaration(
        .source, "EvaluateExpression", right: .query, on: .query,
        params: ["expression", "feature", "zoom", "accumulated", "type"],
        "Compiles and evaluates an expression.")

    /// Params that say how to import features.
    private static let imports = ["mode", "onInvalid", "wrap", "allowEmpty"]
    /// Params that describe a text that may be a table.
    private static let table = ["longitude", "latitude", "id", "delimiter", "text"]

    // MARK: ServerService

    public static let check = MethodDeclaration(
        .server, "Check", right: .none, on: .loop, params: [], "Whether the daemon serves.")
    public static let getServerInfo = MethodDeclaration(
        .server, "GetServerInfo", right: .query, on: .loop, params: [], "Name, version, limits and methods.")
    public static let getStats = MethodDeclaration(
        .server, "GetStats", right: .query, on: .loop, params: ["format"],
        "Counters, latencies, memory and sources.")
}
