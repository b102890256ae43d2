// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl children`: a cluster's children on the next zoom.
enum ChildrenCommand: Subcommand {
    static let table = Command(
        "children", summary: "Show a cluster's children on the next zoom",
        operands: [CommandTable.source, CommandTable.cluster],
        options: [CommandTable.filter, CommandTable.revision],
        examples: [Example("clusterctl children cities 164", "shows what the cluster falls apart into")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.clusterCall("GetChildren")
        try invocation.show(answer) { _ in
            invocation.print(FeatureTable.table(try FeatureCollection(answer).features))
        }
    }
}

/// `clusterctl leaves`: a cluster's points, page by page.
enum LeavesCommand: Subcommand {
    static let table = Command(
        "leaves", summary: "Show a cluster's points",
        operands: [CommandTable.source, CommandTable.cluster],
        options: [
            Option(
                "limit", short: "n", value: "N", kind: .integer(0...(1 << 53)),
                help: "so many; default 10, 0 is all"),
            Option(
                "offset", short: "o", value: "N", kind: .integer(0...(1 << 53)),
                help: "leave out so many first"),
            .flag("all", short: "a", help: "show all, a page after the other"),
            CommandTable.filter, CommandTable.revision,
        ],
        examples: [
            Example("clusterctl leaves cities 164 -n 20 -o 40", "shows the third page"),
            Example("clusterctl leaves cities 164 --all --json", "prints every point"),
        ])

    /// Points of a page with --all; well below what an answer may hold.
    private static let pageSize = 5000

    static func run(_ invocation: Invocation) async throws {
        if invocation.arguments.has("all") { return try await runAll(invocation) }
        var members: JSONObject = [:]
        if let limit = invocation.arguments.number("limit") { members["limit"] = .number(limit) }
        if let offset = invocation.arguments.number("offset") { members["offset"] = .number(offset) }
        let answer = try await invocation.clusterCall("GetLeaves", members)
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

    /// Pages of one revision: where the data change between two, the daemon says so and nothing is mixed.
    private static func runAll(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        var members = try invocation.clusterParams()
        var features: [Feature] = []
        var page: FeatureCollection
        repeat {
            members["limit"] = .number(Double(pageSize))
            members["offset"] = .number(Double(features.count))
            let answer = try await client.call(
                "ClusterService/GetLeaves", members, options: invocation.callOptions)
            page = try FeatureCollection(answer)
            features += page.features
            members["revision"] = .number(Double(page.revision))
        } while !page.features.isEmpty && features.count < page.total ?? 0
        guard invocation.wantsJSON else {
            invocation.print(FeatureTable.table(features))
            return remark(features.count, page, invocation)
        }
        let collection: JSONObject = [
            "type": .string("FeatureCollection"), "features": .array(features.map { .object($0.json) }),
            "total": .number(Double(features.count)), "revision": .number(Double(page.revision)),
        ]
        Terminal.write(JSONValue.object(collection).text + "\n")
    }
}

/// `clusterctl zoom`: where a cluster falls apart.
enum ZoomCommand: Subcommand {
    static let table = Command(
        "zoom", summary: "Show the zoom at which a cluster falls apart",
        operands: [CommandTable.source, CommandTable.cluster],
        options: [CommandTable.filter, CommandTable.revision],
        examples: [Example("clusterctl zoom cities 164", "shows where to zoom to when it is tapped")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.clusterCall("GetClusterExpansionZoom")
        try invocation.show(answer) { value in invocation.print(value["zoom"]?.text ?? value.text) }
    }
}

/// `clusterctl hull`: the shape around a cluster's points.
enum HullCommand: Subcommand {
    static let table = Command(
        "hull", summary: "Show the smallest convex shape around a cluster's points",
        operands: [CommandTable.source, CommandTable.cluster],
        options: [CommandTable.filter, CommandTable.revision],
        examples: [Example("clusterctl hull cities 164 --json", "prints a GeoJSON Feature")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.clusterCall("GetConvexHull")
        try invocation.show(answer) { value in
            let geometry = value["geometry"]
            let kind = geometry?["type"]?.asString ?? "?"
            var table = Table([.number("LONGITUDE"), .number("LATITUDE")])
            for corner in corners(geometry?["coordinates"], kind) { table.add(corner) }
            invocation.print(table)
            let count = value["properties"]?["point_count"]?.asInteger.map(Quantity.grouped) ?? "?"
            invocation.remark("\(kind) around \(count) points")
        }
    }

    private static func corners(_ coordinates: JSONValue?, _ kind: String) -> [[String]] {
        let places: [JSONValue] =
            switch kind {
            case "Polygon": coordinates?.asArray?.first?.asArray ?? []
            case "Point": coordinates.map { [$0] } ?? []
            default: coordinates?.asArray ?? []
            }
        return places.map { place in
            (place.asArray ?? []).map { $0.asNumber.map { Quantity.fixed($0, decimals: 6) } ?? "" }
        }
    }
}

/// `clusterctl locate`: what shows a feature.
enum LocateCommand: Subcommand {
    static let table = Command(
        "locate", summary: "Show the cluster or point that shows a feature at a zoom",
        operands: [CommandTable.source, Operand("FEATURE", help: "the feature's id")],
        options: [
            Option(
                "zoom", short: "z", value: "ZOOM", kind: .number(-100...100),
                help: "the map's zoom; default 0"),
            CommandTable.filter, CommandTable.revision,
        ],
        examples: [Example("clusterctl locate cities 17 --zoom 5", "shows where city 17 is at zoom 5")])

    static func run(_ invocation: Invocation) async throws {
        let members: JSONObject = [
            "featureId": UpdateCommand.identifier(try invocation.operand(1)),
            "zoom": .number(invocation.arguments.number("zoom") ?? 0),
        ]
        let answer = try await invocation.call(
            "ClusterService/LocateFeature", try invocation.queryParams(members))
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

extension Invocation {
    fileprivate func clusterParams(_ members: JSONObject = [:]) throws -> JSONObject {
        var members = members
        members["clusterId"] = .number(Double(try clusterID(1)))
        return try queryParams(members)
    }

    fileprivate func clusterCall(_ method: String, _ members: JSONObject = [:]) async throws -> Answer {
        try await call("ClusterService/\(method)", try clusterParams(members))
    }
}
