// SPDX-License-Identifier: MIT

/// A resource that is answered by a call without a body. Immutable; there is one object for each.
final class ResourceQuery: Sendable, Equatable {
    /// The call's method.
    let method: String
    let known: QueryParameters.Known
    let mediaType: StaticString
    /// Whether the answer depends only on a source's data and the request.
    let dependsOnData: Bool
    /// Whether the answer is a tile: tiles are cached as sent.
    let isTile: Bool
    /// Whether the answer consists of the call's bytes without JSON around them.
    let isRaw: Bool

    private init(
        method: String, known: QueryParameters.Known, mediaType: StaticString = "application/json",
        dependsOnData: Bool = true, isTile: Bool = false, isRaw: Bool = false
    ) {
        self.method = method
        self.known = known
        self.mediaType = mediaType
        self.dependsOnData = dependsOnData
        self.isTile = isTile
        self.isRaw = isRaw
    }

    /// How its answers are sent, before anything is known of the client.
    var plan: AnswerPlan {
        var plan = AnswerPlan()
        plan.mediaType = mediaType
        plan.isKept = isTile
        plan.mayBeEmpty = isRaw
        plan.variation = .encoding
        return plan
    }

    static func == (a: ResourceQuery, b: ResourceQuery) -> Bool { a === b }
}

extension ResourceQuery {
    private static let selection: QueryParameters.Known = [
        ("filter", .json), ("revision", .number), ("atLeast", .string),
    ]

    private static let ofCluster = selection + [("zoom", .number)]

    private static let geoJSON: StaticString = "application/geo+json"

    static let tile = ResourceQuery(
        method: cluster("GetTile"), known: selection + [("include", .strings), ("properties", .strings)],
        mediaType: "application/vnd.mapbox-vector-tile", isTile: true, isRaw: true)
    static let tileOfJSON = ResourceQuery(
        method: cluster("GetTile"), known: selection + [("include", .strings), ("properties", .strings)],
        isTile: true)
    static let clusters = ResourceQuery(
        method: cluster("GetClusters"), known: viewport, mediaType: geoJSON)
    static let children = ResourceQuery(method: cluster("GetChildren"), known: ofCluster, mediaType: geoJSON)
    static let leaves = ResourceQuery(
        method: cluster("GetLeaves"), known: ofCluster + [("limit", .number), ("offset", .number)],
        mediaType: geoJSON)
    static let expansionZoom = ResourceQuery(
        method: cluster("GetClusterExpansionZoom"), known: ofCluster)
    static let hull = ResourceQuery(method: cluster("GetConvexHull"), known: ofCluster, mediaType: geoJSON)
    static let feature = ResourceQuery(
        method: cluster("LocateFeature"), known: selection + [("zoom", .number)])
    static let source = ResourceQuery(method: ofSource("GetSource"), known: [], dependsOnData: false)
    static let sources = ResourceQuery(method: ofSource("ListSources"), known: [], dependsOnData: false)

    /// The query parameters of a viewport.
    static let viewport: QueryParameters.Known =
        selection + [
            ("bbox", .numbers), ("include", .strings), ("limit", .number), ("precision", .number),
            ("properties", .strings), ("zoom", .number),
        ]

    static let watchParameters: QueryParameters.Known =
        viewport + [("maxRateHz", .number), ("transitions", .boolean), (timing, .boolean)]
    /// Whether a WebSocket's items say how long the daemon took for them. It is no param of the call.
    static let timing = "timing"
    static let importParameters: QueryParameters.Known = [
        ("mode", .string), ("onInvalid", .string), ("wrap", .boolean), ("allowEmpty", .boolean),
        ("longitude", .string), ("latitude", .string),
        ("id", .string), ("delimiter", .string),
        ("text", .strings),
    ]
    static let tileJSONParameters: QueryParameters.Known = [("filter", .json), ("atLeast", .string)]

    static func cluster(_ name: String) -> String { "clusterd.v1.ClusterService/\(name)" }
    /// Whether it takes a viewport, which defaults to the whole world.
    var takesViewport: Bool { known.contains { $0.name == "bbox" } }

    static func ofServer(_ name: String) -> String { "clusterd.v1.ServerService/\(name)" }
    static func ofSource(_ name: String) -> String { "clusterd.v1.SourceService/\(name)" }
}
