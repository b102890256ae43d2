// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

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
