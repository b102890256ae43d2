// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Sources over the socket") struct SourceTests {
    let daemon: DaemonProcess
    let client: RawClient
    private let points = GoldenDataset.points(kind: "c", count: 1200, seed: 3)

    init() throws {
        daemon = try DaemonProcess()
        client = try daemon.client()
    }

    private func create(_ source: String = "s", _ options: JSONValue = [:]) throws {
        _ = try client.call("SourceService/CreateSource", ["source": .string(source), "options": options])
    }

    @Test("a source from creation to deletion")
    func life() throws {
        let made = try client.call(
            "SourceService/CreateSource", ["source": "cities", "options": ["radius": 60]])
        #expect(made["state"] == "empty")
        #expect(made["points"] == 0)
        #expect(made["options"]?["radius"] == 60)
        #expect(
            try client.failure("SourceService/CreateSource", ["source": "cities", "options": [:]]).status
                == "ALREADY_EXISTS")
        let imported = try client.importFeatures("cities", points.map(\.feature))["result"]
        #expect(imported?["accepted"] == 1200)
        #expect(imported?["skipped"] == 0)
        #expect(imported?["state"] == "ready")
        let description = try client.call("SourceService/GetSource", ["source": "cities"])
        for member in [
            "source", "options", "points", "revision", "bbox", "memoryBytes", "buildMs", "state", "createdAt",
            "updatedAt",
        ] { #expect(description[member] != nil, "\(member)") }
        try create("another")
        let names = try client.call("SourceService/ListSources")["sources"]?.array?.compactMap { $0["source"]?.string }
        #expect(names == ["another", "cities"])
        #expect(try client.call("SourceService/DeleteSource", ["source": "cities"]) == [:])
        #expect(try client.failure("SourceService/GetSource", ["source": "cities"]).status == "NOT_FOUND")
    }

    @Test("append adds, replace starts again, and each raises the revision") func modes() throws {
        try create()
        let features = points.map(\.feature)
        let first = try client.importFeatures("s", Array(features[..<500]))["result"]
        let second = try client.importFeatures("s", Array(features[500...]), mode: "append")["result"]
        #expect(first?["points"] == 500)
        #expect(second?["points"] == 1200)
        let third = try client.importFeatures("s", Array(features[..<10]))["result"]
        #expect(third?["points"] == 10)
        let revisions = [first, second, third].compactMap { $0?["revision"]?.number }
        #expect(revisions == revisions.sorted())
        #expect(Set(revisions).count == 3)
    }

    @Test("an invalid feature rejects the whole import with its index, or is counted") func badFeatures() throws {
        try create()
        var features = points.prefix(700).map(\.feature)
        _ = try client.importFeatures("s", features)
        features[601] = #"{"type":"Feature","geometry":null,"properties":{}}"#
        features[650] =
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[999,0]},"properties":{}}"#
        let refused = try client.importFeatures("s", features)
        #expect(RawClient.status(refused["error"]).status == "INVALID_ARGUMENT")
        #expect(RawClient.status(refused["error"]).message.contains("601"))
        #expect(try client.call("SourceService/GetSource", ["source": "s"])["points"] == 700)
        let skipped = try client.importFeatures("s", features, onInvalid: "skip")["result"]
        #expect(skipped?["accepted"] == 698)
        #expect(skipped?["skipped"] == 2)
        #expect(skipped?["skippedReasons"]?.object?.count == 2)
    }

    @Test("a query of an earlier revision is aborted") func revisions() throws {
        try create()
        let first = try client.importFeatures("s", points.prefix(50).map(\.feature))["result"]?["revision"] ?? nil
        let query: JSONObject = ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 3]
        var current = query
        current["revision"] = first
        #expect(try client.call("ClusterService/GetClusters", .object(current))["revision"] == first)
        _ = try client.importFeatures("s", points.prefix(60).map(\.feature))
        #expect(try client.failure("ClusterService/GetClusters", .object(current)).status == "ABORTED")
        #expect(try client.call("ClusterService/GetClusters", .object(query))["revision"] != first)
    }

    @Test(
        "invalid options are rejected by path, and no source is created",
        arguments: [
            (["radius": "x"], "params.options.radius"), (["maxZoom": 25], "params.options.maxZoom"),
            (["minZoom": 9, "maxZoom": 3], "params.options"), (["colour": "red"], "params.options.colour"),
            (["clusterProperties": ["a": ["nope", ["get", "x"]]]], "a"),
            (["minPoints": 1.5], "params.options.minPoints"),
        ] as [(JSONValue, String)])
    func wrongOptions(_ options: JSONValue, _ path: String) throws {
        let failure = try client.failure("SourceService/CreateSource", ["source": "s", "options": options])
        #expect(failure.status == "INVALID_ARGUMENT")
        #expect(failure.message.contains(path))
        #expect(try client.failure("SourceService/GetSource", ["source": "s"]).status == "NOT_FOUND")
    }

    @Test("pages of leaves neither repeat nor omit one") func paging() throws {
        try create("s", ["radius": 500])
        _ = try client.importFeatures("s", points.map(\.feature))
        let world = try client.call(
            "ClusterService/GetClusters", ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 0])
        let largest = try #require(
            world["features"]?.array?.compactMap { $0["properties"] }.max {
                ($0["point_count"]?.number ?? 0) < ($1["point_count"]?.number ?? 0)
            })
        let total = try #require(largest["point_count"]?.number)
        var seen: [Double] = []
        for offset in stride(from: 0, to: Int(total) + 50, by: 37) {
            let page = try client.call(
                "ClusterService/GetLeaves",
                [
                    "source": "s", "clusterId": largest["cluster_id"] ?? nil, "limit": 37,
                    "offset": .number(Double(offset)),
                ])
            #expect(page["total"]?.number == total)
            seen += page["features"]?.array?.compactMap { $0["id"]?.number } ?? []
        }
        #expect(Double(seen.count) == total)
        #expect(Set(seen).count == seen.count)
    }

    @Test("limit, properties and precision of clusters") func shaping() throws {
        try create()
        _ = try client.importFeatures("s", points.map(\.feature))
        let part = try client.call(
            "ClusterService/GetClusters",
            [
                "source": "s", "bbox": [-180, -90, 180, 90], "zoom": 17, "limit": 5, "properties": ["name"],
                "precision": 2,
            ])
        #expect(part["features"]?.array?.count == 5)
        #expect(part["truncated"] == true)
        for feature in part["features"]?.array ?? [] {
            #expect(feature["properties"]?.object?.members.map(\.key) == ["name"])
            for coordinate in feature["geometry"]?["coordinates"]?.array ?? [] {
                let value = coordinate.number ?? 0
                #expect(abs(value * 100 - (value * 100).rounded()) < 1e-6)
            }
        }
        let none = try client.call(
            "ClusterService/GetClusters", ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 17, "limit": 0])
        #expect(none["features"]?.array?.isEmpty == true)
        #expect(none["truncated"] == true)
    }

    @Test(
        "invalid queries are rejected by path",
        arguments: [
            ("GetClusters", ["source": "s", "zoom": 1], "params.bbox"),
            ("GetClusters", ["source": "s", "bbox": [0, 0, "x", 1], "zoom": 1], "params.bbox[2]"),
            ("GetClusters", ["source": "s", "bbox": [0, 0, 1], "zoom": 1], "params.bbox"),
            ("GetClusters", ["source": "s", "bbox": [0, 0, 1, 1], "zoom": "a"], "params.zoom"),
            ("GetClusters", ["source": "s", "bbox": [0, 0, 1, 1], "zoom": 1, "limit": -1], "params.limit"),
            ("GetClusters", ["source": "s", "bbox": [0, 0, 1, 1], "zoom": 1, "colour": 1], "params.colour"),
            ("GetTile", ["source": "s", "z": 0, "x": 1, "y": 0], "params.x"),
            ("GetChildren", ["source": "s", "clusterId": "x"], "params.clusterId"),
            ("GetLeaves", ["source": "s", "clusterId": 5, "offset": -1], "params.offset"),
        ] as [(String, JSONValue, String)])
    func wrongQueries(_ method: String, _ params: JSONValue, _ path: String) throws {
        try create()
        _ = try client.importFeatures("s", points.prefix(20).map(\.feature))
        let failure = try client.failure("ClusterService/\(method)", params)
        #expect(failure.status == "INVALID_ARGUMENT" && failure.message.contains(path), "\(failure)")
    }

    @Test("unknown cluster ids", arguments: MethodDeclaration.all.filter { $0.takes(.clusterID) }.map(\.shortName))
    func unknownCluster(_ method: String) throws {
        try create()
        _ = try client.importFeatures("s", points.prefix(20).map(\.feature))
        #expect(
            try client.failure(method, ["source": "s", "clusterId": 123456]).status == "NOT_FOUND")
    }

    @Test("hulls of every shape") func hulls() throws {
        try create("s", ["radius": 400, "maxZoom": 0])
        func hull(_ places: [(Double, Double)]) throws -> JSONValue {
            _ = try client.importFeatures(
                "s",
                places.enumerated().map { index, place in
                    #"{"type":"Feature","id":\#(index),"geometry":{"type":"Point","coordinates":[\#(place.0),\#(place.1)]},"properties":{}}"#
                })
            let world = try client.call(
                "ClusterService/GetClusters", ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 0])
            let id = world["features"]?.array?.first?["properties"]?["cluster_id"] ?? nil
            return try client.call("ClusterService/GetConvexHull", ["source": "s", "clusterId": id])
        }
        #expect(try hull([(1, 1), (1, 1), (1, 1)])["geometry"] == ["type": "Point", "coordinates": [1, 1]])
        #expect(
            try hull([(1, 1), (3, 3), (2, 2)])["geometry"] == [
                "type": "LineString", "coordinates": [[1, 1], [3, 3]],
            ])
        let square = try hull([(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (1, 0)])
        #expect(
            square["geometry"] == [
                "type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]],
            ])
        #expect(square["type"] == "Feature")
        #expect(square["properties"]?["point_count"] == 6)
        #expect(square["revision"] != nil)
    }

    @Test("a hull of rounded positions has no collinear corners, and has the positions' shape")
    func roundedHulls() throws {
        try create("s", ["radius": 400, "maxZoom": 0])
        func hull(_ places: [(Double, Double)]) throws -> JSONValue? {
            _ = try client.importFeatures(
                "s",
                places.map {
                    #"{"type":"Feature","geometry":{"type":"Point","coordinates":[\#($0.0),\#($0.1)]},"properties":{}}"#
                })
            let world = try client.call(
                "ClusterService/GetClusters",
                ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 0, "include": ["hull"], "precision": 1])
            return world["features"]?.array?.first?["properties"]?["hull"]
        }
        #expect(
            try hull([(0, 0), (4, 0.01), (2, -0.04), (2, 4)]) == [
                "type": "Polygon", "coordinates": [[[0, 0], [4, 0], [2, 4], [0, 0]]],
            ])
        #expect(
            try hull([(0, 0), (4, 0.01), (2, -0.04)]) == ["type": "LineString", "coordinates": [[0, 0], [4, 0]]])
        #expect(try hull([(0.01, 0), (0.02, 0)]) == ["type": "Point", "coordinates": [0, 0]])
    }

    @Test("features are returned unchanged, and a point with a property \"cluster\" is a point")
    func verbatim() throws {
        try create()
        let feature =
            #"{"type":"Feature","id":"é\u00e9","geometry":{"type":"Point","coordinates":[12.5,41.90,300.5]},"properties":{"cluster":true,"cluster_id":7,"nested":{"a":[1,{"b":null}]},"big":12345678901234567890}}"#
        _ = try client.importFeatures("s", [feature])
        let world = try client.call(
            "ClusterService/GetClusters", ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 0])
        #expect(world["features"]?.array == [try JSONReader.parse(feature)])
    }

    @Test("files below the import directories, and no others") func loadFile() throws {
        let folder = NSTemporaryDirectory() + "clusterd-import-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder + "/in", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lines = points.map(\.feature).joined(separator: "\n")
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/in/points.ndjson"))
        try Data(lines.utf8).write(to: URL(fileURLWithPath: folder + "/outside.ndjson"))
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/in/link", withDestinationPath: folder + "/outside.ndjson")
        let daemon = try DaemonProcess(["--import-dir", folder + "/in"])
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let loaded = try client.call(
            "SourceService/LoadFile", ["source": "s", "path": .string(folder + "/in/points.ndjson")])
        #expect(loaded["accepted"] == 1200)
        for path in ["/outside.ndjson", "/in/../outside.ndjson", "/in/link", "/in/nothing", "/in"] {
            let failure = try client.failure("SourceService/LoadFile", ["source": "s", "path": .string(folder + path)])
            #expect(
                ["PERMISSION_DENIED", "NOT_FOUND", "INVALID_ARGUMENT"].contains(failure.status),
                "\(path): \(failure)")
            if path != "/in/nothing" && path != "/in" {
                #expect(failure.status == "PERMISSION_DENIED", "\(path)")
            }
        }
        #expect(
            try client.failure("SourceService/LoadFile", ["source": "s", "path": "/etc/passwd"]).status
                == "PERMISSION_DENIED")
    }

    @Test("the navigation aids of ../shared") func navaids() throws {
        let file = Repository.root.appendingPathComponent("../shared/data/navaids.geojson").standardized
        guard FileManager.default.fileExists(atPath: file.path) else {
            print("navaids: ../shared/data is not here; this test has nothing to do")
            return
        }
        let result = try DaemonProcess.run(
            "clusterctl", ["--socket", daemon.socketPath, "import", "navaids", file.path])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try client.call("SourceService/GetSource", ["source": "navaids"])["points"] == 11008)
    }
}
