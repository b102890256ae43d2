// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

/// Answers as they are written, beside supercluster's own.
@Suite("Golden") struct GoldenTests {
    @Test("agrees with supercluster", arguments: 0..<5, [8, 9])
    func agreesWithSupercluster(_ number: Int, _ version: Int) throws {
        let golden = try GoldenCase.load(version: version)[number]
        let test = try TestSource(options: JSONValue.object(golden.options).text)
        try test.load(list(golden.points))
        var asked: Set<String> = []
        for query in try golden.queries.map({ try Answer(JSONValue.object($0).text).object }) {
            let kind = try #require(query["q"] as? String)
            asked.insert(kind)
            try check(query, kind, test)
        }
        #expect(asked.isSuperset(of: ["world", "clusters", "tile"]))
    }

    private func check(_ query: [String: Any], _ kind: String, _ test: TestSource) throws {
        switch kind {
        case "world": try checkWorld(query, test)
        case "clusters": try checkClusters(query, test)
        case "tile": try checkTile(query, test)
        case "children":
            let id = try number(query["id"])
            let answer = try test.answer { try $0.writeChildren(of: id, in: $1, into: &$2, .never) }
            expect(answer.features.map(Self.row), equal: query["expect"], "children of \(id)")
        case "zoom":
            let id = try number(query["id"])
            let answer = try test.answer { try $0.writeExpansionZoom(of: id, in: $1, into: &$2) }
            #expect(answer.object["zoom"] as? Int == query["expect"] as? Int)
        case "leaves": try checkLeaves(query, test)
        default: Issue.record("unknown query \(kind)")
        }
    }

    private func checkWorld(_ query: [String: Any], _ test: TestSource) throws {
        let answer = try test.world(try #require(query["zoom"] as? Double))
        let lines = answer.features.map { feature in
            let properties = feature["properties"] as? [String: Any] ?? [:]
            guard properties["cluster"] != nil else { return "p\(feature["id"] ?? "")" }
            return "c\(feature["id"] ?? ""):\(properties["point_count"] ?? "")"
        }
        #expect(lines.count == query["n"] as? Int)
        #expect(sha1(lines.sorted().joined(separator: "\n")) == query["sha1"] as? String)
    }

    private func checkClusters(_ query: [String: Any], _ test: TestSource) throws {
        let box = try #require(query["bbox"] as? [Double])
        let answer = try test.clusters(
            ClustersQuery(
                box: Box(west: box[0], south: box[1], east: box[2], north: box[3]),
                zoom: try #require(query["zoom"] as? Double)))
        expect(answer.features.map(Self.row), equal: query["expect"], "clusters in \(box)")
    }

    private func checkTile(_ query: [String: Any], _ test: TestSource) throws {
        let (z, x, y) = (query["z"] as? Int ?? -1, query["x"] as? Int ?? -1, query["y"] as? Int ?? -1)
        let tile = try #require(TileAddress(z: z, x: x, y: y))
        let answer = try test.answer { try $0.writeTile(tile, of: $1, into: &$2, .never) }
        let rows = answer.features.map { feature -> [Any] in
            let tags = feature["tags"] as? [String: Any] ?? [:]
            let place = (feature["geometry"] as? [Any])?.first ?? []
            guard tags["cluster"] != nil else { return [["p", feature["id"] ?? ""], place] }
            return [["c", feature["id"] ?? "", tags["point_count"] ?? ""], place]
        }
        expect(rows, equal: query["expect"], "tile \(z)/\(x)/\(y)")
    }

    private func checkLeaves(_ query: [String: Any], _ test: TestSource) throws {
        let id = try number(query["id"])
        let answer = try test.answer {
            try $0.writeLeaves(of: id, in: $1, limit: 0, offset: 0, into: &$2, .never)
        }
        let ids = answer.features.compactMap { $0["id"] as? Int }
        #expect(ids.count == query["n"] as? Int)
        #expect(sha1(ids.sorted().map(String.init).joined(separator: "\n")) == query["sha1"] as? String)
    }

    private func number(_ value: Any?) throws -> Int64 { try #require(value as? NSNumber).int64Value }

    /// A feature as the records have it.
    private static func row(_ feature: [String: Any]) -> [Any] {
        var properties = feature["properties"] as? [String: Any] ?? [:]
        guard properties["cluster"] != nil else { return ["p", feature["id"] ?? ""] }
        let place = (feature["geometry"] as? [String: Any])?["coordinates"] as? [Any] ?? []
        let builtIn = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]
        let (count, short) = (properties["point_count"] ?? "", properties["point_count_abbreviated"] ?? "")
        for name in builtIn { properties[name] = nil }
        return ["c", feature["id"] ?? "", count, short] + place + (properties.isEmpty ? [] : [properties])
    }

    /// Compares as sets, numbers to 1e-9.
    private func expect(_ rows: [[Any]], equal expected: Any?, _ what: String) {
        let expected = expected as? [[Any]] ?? []
        let (ours, theirs) = (rows.map(Self.text).sorted(), expected.map(Self.text).sorted())
        #expect(ours == theirs, "\(what)")
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let list as [Any]: "[" + list.map(text).joined(separator: ",") + "]"
        case let object as [String: Any]:
            "{"
                + object.sorted { $0.key < $1.key }.map { "\($0.key):\(text($0.value))" }.joined(
                    separator: ",") + "}"
        case let number as NSNumber: String(format: "%.9e", number.doubleValue)
        default: "\(value)"
        }
    }
}
