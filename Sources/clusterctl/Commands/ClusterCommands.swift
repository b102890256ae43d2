// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl clusters`: what a map of a box shows at a zoom.
enum ClustersCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "clusters", summary: "Show the clusters and points in a box at a zoom", operands: [.source],
        options: Option.params(of: .getClusters, short: short, defaults: defaults),
        examples: [
            Example("clusterctl clusters cities --zoom 2", "shows the world"),
            Example("clusterctl clusters cities -b -10,35,30,60 -z 4 -n 20", "shows part of Europe"),
            Example(
                "clusterctl clusters cities --filter '[\">\",[\"get\",\"population\"],1e7]'",
                "clusters large cities only"),
            Example(
                "clusterctl clusters cities --window founded,1800,1900 --include top --top-by population",
                "counts cities by when they were founded, and shows the largest of each cluster"),
        ])

    /// The letters and defaults of the options that describe a viewport.
    static let short: [String: Character] = ["bbox": "b", "zoom": "z", "limit": "n"]
    static let defaults = ["bbox": BoundingBox.worldName, "zoom": "0"]

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getClusters)
        guard invocation.form == .table else { return try invocation.show(answer) { _ in } }
        let collection = try FeatureCollection(answer)
        try ImportReport.showWarnings(of: answer, invocation)
        guard !collection.features.isEmpty else { return invocation.remark("nothing there") }
        invocation.print(FeatureTable.table(collection.features))
        invocation.remark(summary(collection))
    }

    private static func summary(_ collection: FeatureCollection) -> String {
        let clusters = collection.features.filter { $0.cluster != nil }
        let points = collection.features.count - clusters.count
        let total = clusters.reduce(points) { $0 + ($1.cluster?.pointCount ?? 0) }
        let more = collection.isTruncated == true ? "; there are more" : ""
        return "\(Quantity.count(clusters.count, "cluster")) and \(Quantity.count(points, "point")), "
            + "of \(Quantity.count(total, "point")); revision \(collection.revision)\(more)"
    }
}

/// `clusterctl children`: a cluster's children on the next zoom.
enum ChildrenCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "children", summary: "Show a cluster's children on the next zoom", operands: [.source, .cluster],
        options: Option.params(of: .getChildren, short: ["zoom": "z"]),
        examples: [Example("clusterctl children cities 164", "shows what the cluster splits into")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getChildren)
        try invocation.show(answer) { _ in invocation.print(FeatureTable.table(try FeatureCollection(answer).features))
        }
    }
}

/// `clusterctl leaves`: a cluster's points, page by page.
enum LeavesCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "leaves", summary: "Show a cluster's points", operands: [.source, .cluster],
        options: Option.params(of: .getLeaves, short: ["limit": "n", "offset": "o", "zoom": "z"]) + [
            .flag("all", short: "a", help: "show all, page by page")
        ],
        examples: [
            Example("clusterctl leaves cities 164 -n 20 -o 40", "shows the third page"),
            Example("clusterctl leaves cities 164 --all --json", "prints every point"),
        ])

    /// The number of points in a page with --all, well below the limit of an answer.
    private static let pageSize = 5000

    static func run(_ invocation: Invocation) async throws {
        if invocation.arguments.has("all") { return try await runAll(invocation) }
        let answer = try await invocation.call(.getLeaves)
        try invocation.show(answer) { _ in
            let collection = try FeatureCollection(answer)
            invocation.print(FeatureTable.table(collection.features))
            remark(collection.features.count, collection, invocation)
        }
    }

    private static func remark(_ shown: Int, _ collection: FeatureCollection, _ invocation: Invocation) {
        guard let total = collection.total else { return }
        invocation.remark("\(Quantity.grouped(shown)) of \(Quantity.count(total, "point"))")
    }

    /// All pages are of one revision. If the data change between two pages, the daemon returns an error and
    /// nothing is mixed.
    private static func runAll(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        var members = try invocation.params(of: .getLeaves)
        var features: [Feature] = []
        var page: FeatureCollection
        repeat {
            members["limit"] = .number(Double(pageSize))
            members["offset"] = .number(Double(features.count))
            let answer = try await client.call(
                "ClusterService/GetLeaves", CallParams(members), options: invocation.callOptions)
            page = try FeatureCollection(answer)
            features += page.features
            members["revision"] = .number(Double(page.revision))
        } while !page.features.isEmpty && features.count < page.total ?? 0
        guard invocation.form != .table else {
            invocation.print(FeatureTable.table(features))
            return remark(features.count, page, invocation)
        }
        let collection: JSONObject = [
            "type": .string("FeatureCollection"), "features": .array(features.map { .object($0.json) }),
            "total": .number(Double(features.count)), "revision": .number(Double(page.revision)),
        ]
        try invocation.show(Answer(bytes: Array(JSONValue.object(collection).text.utf8))) { _ in }
    }
}

/// `clusterctl zoom`: the zoom at which a cluster splits.
enum ZoomCommand: MethodSubcommand {
    static let table = Command(
        "zoom", summary: "Show the zoom at which a cluster splits", operands: [.source, .cluster],
        options: Option.params(of: .getClusterExpansionZoom, short: ["zoom": "z"]),
        examples: [Example("clusterctl zoom cities 164", "shows where to zoom to when it is tapped")])

    static let method = MethodDeclaration.getClusterExpansionZoom

    static func show(_ answer: JSONValue, _ invocation: Invocation) {
        invocation.print(answer["zoom"]?.text ?? answer.text)
    }
}

/// `clusterctl hull`: the shape around a cluster's points.
enum HullCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "hull", summary: "Show the smallest convex shape around a cluster's points", operands: [.source, .cluster],
        options: Option.params(of: .getConvexHull, short: ["zoom": "z"]),
        examples: [Example("clusterctl hull cities 164 --json", "prints a GeoJSON Feature")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getConvexHull)
        if invocation.form == .csv { return show(try answer.value(), invocation) }
        try invocation.show(answer) { show($0, invocation) }
    }

    private static func show(_ hull: JSONValue, _ invocation: Invocation) {
        let geometry = hull["geometry"]
        let kind = geometry?["type"]?.asString ?? "?"
        var table = Table([.number("LONGITUDE"), .number("LATITUDE")])
        for corner in corners(geometry?["coordinates"], kind) { table.add(corner) }
        invocation.print(table)
        let count = hull["properties"]?["point_count"]?.asInteger.map(Quantity.grouped) ?? "?"
        guard geometry?["type"] != nil else { return invocation.remark("no points") }
        invocation.remark("\(kind) around \(count) points")
    }

    private static func corners(_ coordinates: JSONValue?, _ kind: String) -> [[String]] {
        let positions: [JSONValue] =
            switch kind {
            case "Polygon": coordinates?.asArray?.first?.asArray ?? []
            case "Point": coordinates.map { [$0] } ?? []
            default: coordinates?.asArray ?? []
            }
        return positions.map { position in
            (position.asArray ?? []).map { $0.asNumber.map { Quantity.fixed($0, decimals: 6) } ?? "" }
        }
    }
}

/// `clusterctl locate`: what shows a feature.
enum LocateCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "locate", summary: "Show the cluster or point that shows a feature at a zoom",
        operands: [.source, Operand("FEATURE", help: "the feature's id")],
        options: Option.params(of: .locateFeature, short: ["zoom": "z"], defaults: ["zoom": "0"]),
        examples: [Example("clusterctl locate cities 17 --zoom 5", "shows where city 17 is at zoom 5")])

    static func run(_ invocation: Invocation) async throws {
        var params = ParamsText(try invocation.params(of: .locateFeature))
        params["featureId"] = UpdateCommand.identifier(try invocation.operand(1))
        let answer = try await invocation.call("ClusterService/LocateFeature", params.params)
        try invocation.show(answer) { value in
            if let feature = value["feature"].flatMap(Feature.init) {
                invocation.print(FeatureTable.table([feature]))
            }
            let zoom =
                value["standsAloneFrom"]?.asNumber.map { "from zoom \(Quantity.plain($0)) on" } ?? "never"
            invocation.remark("stands alone \(zoom)")
        }
    }
}
