// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("supercluster's recorded answers, over the socket")
struct GoldenSocketTests {
    @Test("all queries of a case", arguments: 0..<5, [8, 9])
    func goldens(_ number: Int, _ version: Int) throws {
        let golden = try GoldenCase.load(version: version)[number]
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "golden", "options": .object(golden.options)])
        let imported = try client.importFeatures("golden", golden.points.map(\.feature))
        #expect(imported["result"]?["points"]?.number == Double(golden.count))
        for query in golden.queries { try check(query, client) }
    }

    private func check(_ query: JSONObject, _ client: RawClient) throws {
        guard let kind = query["q"]?.string else { return }
        var params: JSONObject = ["source": "golden"]
        for name in ["zoom", "bbox", "z", "x", "y"] where kind != "zoom" { params[name] = query[name] }
        if let id = query["id"] { params["clusterId"] = id }
        let context = Comment(rawValue: JSONValue.object(query).text.prefix(120).description)
        switch kind {
        case "world":
            params["bbox"] = [-180, -90, 180, 90]
            let features =
                try client.call("ClusterService/GetClusters", .object(params))["features"]?.array ?? []
            let lines = features.map { Self.line($0) }.sorted {
                Array($0.utf8).lexicographicallyPrecedes($1.utf8)
            }
            #expect(Double(lines.count) == query["n"]?.number, context)
            #expect(Self.digests(lines).contains(query["sha1"]?.string ?? ""), context)
        case "clusters", "children":
            let method = kind == "clusters" ? "GetClusters" : "GetChildren"
            let features = try client.call("ClusterService/\(method)", .object(params))["features"]?.array ?? []
            Self.compare(features.map(Self.summary), query["expect"]?.array ?? [], context)
        case "tile":
            let features = try client.call("ClusterService/GetTile", .object(params))["features"]?.array ?? []
            Self.compare(features.map(Self.tileSummary), query["expect"]?.array ?? [], context)
        case "zoom":
            let result = try client.call("ClusterService/GetClusterExpansionZoom", .object(params))
            #expect(result["zoom"] == query["expect"], context)
        case "leaves":
            params["limit"] = 0
            let result = try client.call("ClusterService/GetLeaves", .object(params))
            let ids = (result["features"]?.array ?? []).compactMap { $0["id"]?.number }
                .map { String(Int($0)) }.sorted { Array($0.utf8).lexicographicallyPrecedes($1.utf8) }
            let numeric = ids.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
            #expect(Double(ids.count) == query["n"]?.number && result["total"] == query["n"], context)
            #expect((Self.digests(ids) + Self.digests(numeric)).contains(query["sha1"]?.string ?? ""), context)
        default: Issue.record("unknown query \(kind)")
        }
    }

    private static func digests(_ lines: [String]) -> [String] {
        [sha1(lines.joined(separator: "\n")), sha1(lines.map { $0 + "\n" }.joined())]
    }

    private static func line(_ feature: JSONValue) -> String {
        if let id = feature["properties"]?["cluster_id"]?.number {
            return "c\(Int(id)):\(Int(feature["properties"]?["point_count"]?.number ?? 0))"
        }
        return "p\(Int(feature["id"]?.number ?? -1))"
    }

    /// A feature as the records have it.
    private static func summary(_ feature: JSONValue) -> JSONValue {
        guard let properties = feature["properties"], let id = properties["cluster_id"] else {
            return ["p", feature["id"] ?? nil]
        }
        var parts: [JSONValue] = [
            "c", id, properties["point_count"] ?? nil, properties["point_count_abbreviated"] ?? nil,
        ]
        parts += feature["geometry"]?["coordinates"]?.array ?? []
        let builtIn = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]
        let aggregates = (properties.object?.members ?? []).filter { !builtIn.contains($0.key) }
        if !aggregates.isEmpty { parts.append(.object(JSONObject(aggregates))) }
        return .array(parts)
    }

    private static func tileSummary(_ feature: JSONValue) -> JSONValue {
        let tags = feature["tags"]
        let shown: JSONValue =
            if let id = tags?["cluster_id"] {
                ["c", id, tags?["point_count"] ?? nil]
            } else {
                ["p", feature["id"] ?? nil]
            }
        return [shown, feature["geometry"]?.array?.first ?? nil]
    }

    /// Compares as sets, numbers to 1e-9 relative.
    private static func compare(_ given: [JSONValue], _ expected: [JSONValue], _ context: Comment) {
        let given = given.sorted { key($0) < key($1) }
        let expected = expected.sorted { key($0) < key($1) }
        #expect(given.count == expected.count, context)
        for (a, b) in zip(given, expected) where !isClose(a, b) {
            Issue.record("\(a.text) is not \(b.text): \(context.rawValue)")
        }
    }

    /// Orders by what is exact: kind and id, then a tile's place.
    private static func key(_ summary: JSONValue) -> String {
        guard let parts = summary.array else { return "" }
        if parts.first?.array != nil { return parts.map(\.text).joined() }
        return parts.prefix(2).map(\.text).joined()
    }

    private static func isClose(_ a: JSONValue, _ b: JSONValue) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-6)
        case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy(isClose)
        case (.object(let a), .object(let b)):
            a.count == b.count
                && a.members.allSatisfy { member in b[member.key].map { isClose(member.value, $0) } ?? false }
        default: a == b
        }
    }
}
