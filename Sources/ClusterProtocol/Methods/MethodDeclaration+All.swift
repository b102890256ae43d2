// SPDX-License-Identifier: MIT

/// The methods of the contract, each declared once.
extension MethodDeclaration {
    /// All methods, in the order in which they are listed.
    public static let all: [MethodDeclaration] = [
        getClusters, getTile, getChildren, getLeaves, getClusterExpansionZoom, getConvexHull, locateFeature,
        watchClusters, topFeatures, getHistogram, getGrid, createSource, importFeatures, loadFile, updateFeatures,
        applyChanges, updateOptions, publishTiles, deleteSource, getFeatures, getSource, listSources,
        evaluateExpression, check, getServerInfo, getStats,
    ]

    // MARK: ClusterService

    public static let getClusters = MethodDeclaration(
        .cluster, "GetClusters", right: .query, on: .query, params: ParamDeclaration.viewport, showsClustersOnly: true,
        "Clusters and points in a box at a zoom.")
    public static let getTile = MethodDeclaration(
        .cluster, "GetTile", right: .query, on: .query,
        params: [.source, .tileZoom, .tileColumn, .tileRow, .encoding, .grid, .properties, .include]
            + ParamDeclaration.restrictions + ParamDeclaration.data,
        showsClustersOnly: true,
        "The features of a tile, as JSON or as a Mapbox Vector Tile.")
    public static let getChildren = MethodDeclaration(
        .cluster, "GetChildren", right: .query, on: .query, params: ParamDeclaration.cluster + [.window],
        showsClustersOnly: true,
        "A cluster's children on the next zoom.")
    public static let getLeaves = MethodDeclaration(
        .cluster, "GetLeaves", right: .query, on: .query,
        params: ParamDeclaration.cluster + [.leafLimit, .offset, .window],
        "A page of a cluster's points.")
    public static let getClusterExpansionZoom = MethodDeclaration(
        .cluster, "GetClusterExpansionZoom", right: .query, on: .query, params: ParamDeclaration.cluster,
        showsClustersOnly: true,
        "The zoom at which a cluster splits.")
    public static let getConvexHull = MethodDeclaration(
        .cluster, "GetConvexHull", right: .query, on: .query, params: ParamDeclaration.cluster + [.window],
        "The smallest convex shape around a cluster's points.")
    public static let locateFeature = MethodDeclaration(
        .cluster, "LocateFeature", right: .query, on: .query,
        params: [.source, .featureID, .zoom] + ParamDeclaration.data,
        "The cluster or point that shows a feature at a zoom.")
    public static let watchClusters = MethodDeclaration(
        .cluster, "WatchClusters", .both, right: .query, on: .query,
        params: ParamDeclaration.viewport + [.maxRateHz, .transitions], items: [.bbox, .zoom, .window, .pin],
        showsClustersOnly: true,
        "A viewport's changes as they happen.")
    public static let topFeatures = MethodDeclaration(
        .cluster, "TopFeatures", right: .query, on: .query,
        params: [.source, .bbox, .by, .topLimit, .properties, .precision, .window] + ParamDeclaration.data,
        "The features in a box with the greatest or least values of an indexed property.")
    public static let getHistogram = MethodDeclaration(
        .cluster, "GetHistogram", right: .query, on: .query,
        params: [.source, .bbox, .property, .bins, .edges, .window] + ParamDeclaration.data,
        showsClustersOnly: true,
        "How the values of an indexed property are distributed in a box.")
    public static let getGrid = MethodDeclaration(
        .cluster, "GetGrid", right: .query, on: .query,
        params: [.source, .bbox, .resolution, .window] + ParamDeclaration.data, showsClustersOnly: true,
        "How many points lie in each square of a grid.")

    /// It is served over HTTP as a document of its own, so it is not among `all`.
    public static let describeTiles = MethodDeclaration(
        .cluster, "DescribeTiles", right: .query, on: .query,
        params: [.source, .tilesURL] + ParamDeclaration.data, showsClustersOnly: true, "A source's tiles as TileJSON.")

    // MARK: SourceService

    public static let createSource = MethodDeclaration(
        .source, "CreateSource", right: .manage, on: .change, params: [.newSource, .options],
        "Makes an empty source with options.")
    public static let importFeatures = MethodDeclaration(
        .source, "ImportFeatures", .clientStream, right: .manage, on: .change,
        params: [.source] + ParamDeclaration.imports + ParamDeclaration.table, items: [.features],
        "Imports features, all or nothing.")
    public static let loadFile = MethodDeclaration(
        .source, "LoadFile", right: .manage, on: .change,
        params: [.source, .path] + ParamDeclaration.imports + ParamDeclaration.table,
        "Imports features from a file that the daemon reads.")
    public static let publishTiles = MethodDeclaration(
        .source, "PublishTiles", .serverStream, right: .manage, on: .change,
        params: [
            .source, .archivePath, .minZoom, .maxZoom, .properties, .archiveInclude, .compression, .archiveName,
            .archiveDescription, .attribution, .overwrite, .estimate,
        ] + ParamDeclaration.data, "Writes all tiles as a PMTiles archive.")
    public static let updateFeatures = MethodDeclaration(
        .source, "UpdateFeatures", right: .manage, on: .change, params: [.source, .upsert, .remove],
        "Adds, replaces and removes features by id.")
    public static let applyChanges = MethodDeclaration(
        .source, "ApplyChanges", .both, right: .manage, on: .change, params: [.source, .log, .onInvalid],
        items: [.position, .upsert, .remove], "Applies the changes of a log exactly once.")
    public static let updateOptions = MethodDeclaration(
        .source, "UpdateOptions", right: .manage, on: .change, params: [.source, .allOptions],
        "Changes a source's options and clusters it again.")
    public static let deleteSource = MethodDeclaration(
        .source, "DeleteSource", right: .manage, on: .change, params: [.source], "Removes a source.")
    public static let getFeatures = MethodDeclaration(
        .source, "GetFeatures", .serverStream, right: .query, on: .query,
        params: [.source, .properties, .precision] + ParamDeclaration.data,
        "All features of one revision, as they were sent.")
    public static let getSource = MethodDeclaration(
        .source, "GetSource", right: .query, on: .loop, params: [.source], showsClustersOnly: true,
        "A source's description.")
    public static let listSources = MethodDeclaration(
        .source, "ListSources", right: .query, on: .loop, params: [], "All sources' descriptions, by name.")
    public static let evaluateExpression = MethodDeclaration(
        .source, "EvaluateExpression", right: .query, on: .query,
        params: [.expression, .feature, .expressionZoom, .accumulated, .expectedType],
        "Compiles and evaluates an expression.")

    // MARK: ServerService

    public static let check = MethodDeclaration(
        .server, "Check", right: .none, on: .loop, params: [], "Whether the daemon serves.")
    public static let getServerInfo = MethodDeclaration(
        .server, "GetServerInfo", right: .query, on: .loop, params: [], "Name, version, limits and methods.")
    /// For `clusterctl` only, so it is not among `all`.
    public static let explainAccess = MethodDeclaration(
        .server, "ExplainAccess", right: .admin, on: .loop, params: [.source, .token],
        "What the bearer of a token sees of a source.")
    public static let getStats = MethodDeclaration(
        .server, "GetStats", right: .query, on: .loop, params: [.format], "Counters, latencies, memory and sources.")
}
