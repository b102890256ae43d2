// SPDX-License-Identifier: MIT

import ClusterProtocol

/// A resource that is answered by a call without a body. Immutable; there is one object for each.
final class ResourceQuery: Sendable, Equatable {
    let method: MethodDeclaration
    /// The method's params that are query parameters: all but those that the path determines.
    let known: [ParamDeclaration]
    let mediaType: StaticString
    /// Whether the answer depends only on a source's data and the request.
    let dependsOnData: Bool
    /// Whether the answer is a tile: tiles are cached as sent.
    let isTile: Bool
    /// Whether the answer consists of the call's bytes without JSON around them.
    let isRaw: Bool
    /// Whether there is the same answer in columns.
    let hasColumns: Bool
    /// Whether the answer is of any length, and sent part by part.
    let isDocument: Bool

    /// - Parameter path: the params that the path determines.
    private init(
        _ method: MethodDeclaration, path: [ParamDeclaration], mediaType: StaticString = "application/json",
        dependsOnData: Bool = true, isTile: Bool = false, isRaw: Bool = false, hasColumns: Bool = false,
        isDocument: Bool = false
    ) {
        self.method = method
        known = method.params.filter { param in !path.contains { $0 === param } }
        self.mediaType = mediaType
        self.dependsOnData = dependsOnData
        self.isTile = isTile
        self.isRaw = isRaw
        self.hasColumns = hasColumns
        self.isDocument = isDocument
    }

    /// How its answers are sent, before anything is known of the client.
    var plan: AnswerPlan {
        var plan = AnswerPlan()
        plan.mediaType = mediaType
        plan.isKept = isTile
        plan.mayBeEmpty = isRaw
        plan.variation = hasColumns ? .encodingAndMediaType : .encoding
        plan.isStreamed = isDocument
        return plan
    }

    /// Whether it takes `include` for columns only.
    var addsInclude: Bool { hasColumns && !known.contains { $0.name == Self.include.name } }

    /// Whether it takes a viewport, which defaults to the whole world.
    var takesViewport: Bool { known.contains { $0 === ParamDeclaration.bbox } }

    static func == (a: ResourceQuery, b: ResourceQuery) -> Bool { a === b }
}

extension ResourceQuery {
    private static let geoJSON: StaticString = "application/geo+json"
    private static let tilePath: [ParamDeclaration] = [.source, .tileZoom, .tileColumn, .tileRow, .encoding]

    static let tile = ResourceQuery(
        .getTile, path: tilePath, mediaType: "application/vnd.mapbox-vector-tile", isTile: true, isRaw: true)
    static let tileOfJSON = ResourceQuery(.getTile, path: tilePath, isTile: true)
    static let clusters = ResourceQuery(.getClusters, path: [.source], mediaType: geoJSON, hasColumns: true)
    static let children = ResourceQuery(.getChildren, path: [.source, .clusterID], mediaType: geoJSON)
    static let leaves = ResourceQuery(.getLeaves, path: [.source, .clusterID], mediaType: geoJSON, hasColumns: true)
    static let expansionZoom = ResourceQuery(.getClusterExpansionZoom, path: [.source, .clusterID])
    static let hull = ResourceQuery(.getConvexHull, path: [.source, .clusterID], mediaType: geoJSON)
    static let top = ResourceQuery(.topFeatures, path: [.source], mediaType: geoJSON, hasColumns: true)
    static let histogram = ResourceQuery(.getHistogram, path: [.source])
    static let feature = ResourceQuery(.locateFeature, path: [.source, .featureID])
    static let grid = ResourceQuery(.getGrid, path: [.source])
    static let source = ResourceQuery(.getSource, path: [.source], dependsOnData: false)
    static let sources = ResourceQuery(.listSources, path: [], dependsOnData: false)
    static let tileJSON = ResourceQuery(.describeTiles, path: [.source, .tilesURL, .revision])
    static let watch = ResourceQuery(.watchClusters, path: [.source])
    static let features = ResourceQuery(
        .getFeatures, path: [.source], mediaType: geoJSON, hasColumns: true, isDocument: true)
    static let importedFeatures = ResourceQuery(.importFeatures, path: [.source])

    /// Those whose answers can be columns.
    static let withColumns = [clusters, leaves, top, features]

    /// The form of answers of the resources that have columns, besides GeoJSON.
    static let columnType: StaticString = "application/vnd.apache.arrow.stream"
    /// What names GeoJSON.
    static let usualTypes = ["application/geo+json", "application/json"]
    /// The word of `include` for a column of points. It is no param of the calls, whose features have a geometry anyway.
    static let geometryWord = "geometry"
    static let include = ParamDeclaration(
        "include", .words([geometryWord]), defaultInWords: "none", "further columns of an answer in columns")

    /// Whether a WebSocket's items say how long the daemon took for them. It is no param of the call.
    static let timing = ParamDeclaration(
        "timing", .boolean, default: .bool(false), "whether items say how long the daemon took for them")
}
