// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Named views of a declared source, by every transport.
@Suite("Named views over all transports") struct NamedViewSocketTests {
    /// The daemon, its configuration and its archives.
    private final class Served {
        let folder: String
        let daemon: DaemonProcess
        let socket: RawClient
        let http: HTTPClient

        static let views = #"{"odd":{"filter":["==",["get","kind"],"odd"]},"wide":{"radius":200,"maxZoom":5}}"#

        init() throws {
            folder = NSTemporaryDirectory() + "clusterd-views-" + UUID().uuidString.prefix(12)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Self.configuration(Self.views, folder).write(
                toFile: folder + "/clusterd.json", atomically: true, encoding: .utf8)
            daemon = try DaemonProcess(["--config", folder + "/clusterd.json"])
            (socket, http) = (try daemon.client(), try daemon.http())
            _ = try socket.call(
                "SourceService/UpdateFeatures",
                ["source": "s", "upsert": try JSONReader.parse(HTTPResourceTests.features(600))])
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        static func configuration(_ views: String, _ folder: String) -> String {
            #"{"http":{"listen":["127.0.0.1:0"],"right":"admin"},"exportDirectories":["\#(folder)"],"#
                + #""sources":{"s":{"options":{"maxZoom":8,"views":\#(views)}}}}"#
        }

        func json(_ target: String) throws -> JSONValue {
            let response = try http.get(target)
            try #require(response.status == 200, "\(target): \(response.status) \(response.text)")
            return try JSONReader.parse(response.body)
        }

        func clusters(_ source: String, zoom: Int, filter: JSONValue? = nil) throws -> JSONValue {
            var params: JSONObject = [
                "source": .string(source), "bbox": [-180, -90, 180, 90], "zoom": .number(Double(zoom)),
            ]
            params["filter"] = filter
            return try socket.call("ClusterService/GetClusters", .object(params))
        }

        func control(_ arguments: String...) throws -> (status: Int32, output: String, errors: String) {
            try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath] + arguments)
        }
    }

    private static let odd: JSONValue = ["==", ["get", "kind"], "odd"]

    private static func counts(_ answer: JSONValue) -> [Double] {
        (answer["features"]?.array ?? []).map { $0["properties"]?["point_count"]?.number ?? 1 }
    }

    @Test("frames, HTTP, gRPC and Connect give the same answers") func transports() throws {
        let served = try Served()
        // A view with a filter gives what the filter gives in the source, ids included.
        let clusters = try served.clusters("s:odd", zoom: 4)
        #expect(clusters == (try served.clusters("s", zoom: 4, filter: Self.odd)))
        #expect(Self.counts(clusters).reduce(0, +) == 300)
        let wide = Self.counts(try served.clusters("s:wide", zoom: 4))
        #expect(wide.reduce(0, +) == 600)
        #expect(wide.count < Self.counts(try served.clusters("s", zoom: 4)).count)
        // A filter in a view.
        let both = try served.clusters("s:wide", zoom: 4, filter: Self.odd)
        #expect(Self.counts(both).reduce(0, +) == 300)
        #expect(Self.counts(both) != Self.counts(clusters))

        #expect(try served.json("/sources/s:odd/clusters?zoom=4") == clusters)
        #expect(try served.json("/sources/s%3Aodd/clusters?zoom=4") == clusters)
        let id = try #require(
            clusters["features"]?.array?.first { $0["properties"]?["cluster"] != nil }?["id"]?.number)
        let leaves = try served.json("/sources/s:odd/clusters/\(Int64(id))/leaves?limit=0")
        #expect(leaves["features"]?.array?.allSatisfy { $0["properties"]?["kind"] == "odd" } == true)
        let located = try served.json("/sources/s:odd/features/2?zoom=20")
        #expect(located["feature"]?["id"] == 2)
        #expect(try served.http.get("/sources/s:odd/features/1?zoom=20").status == 404)

        let rpc = try served.control(
            "call", "--grpc", "GetClusters", "source=s:odd", "zoom=4",
            #"bbox={"west":-180,"south":-90,"east":180,"north":90}"#)
        #expect(rpc.status == 0, "\(rpc)")
        let message = try JSONReader.parse(rpc.output)
        #expect(message["features"]?.array?.count == clusters["features"]?.array?.count)
        let body = Array(#"{"source":"s:odd","zoom":4,"bbox":{"west":-180,"south":-90,"east":180,"north":90}}"#.utf8)
        let connect = try served.http.exchange(
            "POST", "/clusterd.v1.ClusterService/GetClusters",
            ["Content-Type: application/json", "Connect-Protocol-Version: 1"], body: body)
        #expect(connect.status == 200, "\(connect.text)")
        #expect(try JSONReader.parse(connect.body)["features"]?.array?.count == message["features"]?.array?.count)
    }

    @Test("tiles, TileJSON and archives are those of the view, in a layer with its name") func tiles() throws {
        let served = try Served()
        let document = try served.json("/sources/s:wide/tiles.json")
        #expect(document["maxzoom"] == 6)
        #expect(document["name"] == "s:wide")
        #expect(document["vector_layers"]?.array?.first?["id"] == "s:wide")
        let url = try #require(document["tiles"]?.array?.first?.string)
        let path = try #require(url.range(of: "/sources/")).lowerBound
        let target = String(url[path...]).replacingOccurrences(of: "{z}/{x}/{y}", with: "2/2/1")
        let tile = try served.http.get(target)
        #expect(tile.status == 200 && !tile.body.isEmpty)
        let layer = try #require(try DecodedTile(tile.body).layers.first)
        #expect(layer.name == "s:wide")
        // A conditional request is answered from the tag.
        let tag = try #require(tile["etag"])
        #expect(try served.http.get(target, ["If-None-Match: \(tag)"]).status == 304)
        _ = try served.socket.call("SourceService/UpdateFeatures", ["source": "s", "remove": [1]])
        #expect(try served.http.get(target, ["If-None-Match: \(tag)"]).status == 200)

        let archive = served.folder + "/wide.pmtiles"
        let published = try served.control("publish", "s:wide", archive)
        #expect(published.status == 0, "\(published)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: archive))
        #expect(bytes.prefix(7) == Data("PMTiles".utf8))
        // The first zoom without clusters.
        #expect(bytes[101] == 6)
    }

    @Test("an update is in all views and their watches at once") func updates() throws {
        let served = try Served()
        let watcher = try served.daemon.client()
        _ = try watcher.open(
            "ClusterService/WatchClusters",
            ["source": "s:odd", "bbox": [-180, -90, 180, 90], "zoom": 20, "transitions": true])
        let first = try #require(try watcher.receive()["item"])
        #expect(first["add"]?.array?.count == 300)
        let changed = try served.socket.call(
            "SourceService/UpdateFeatures",
            [
                "source": "s", "remove": [2],
                "upsert": [
                    [
                        "type": "Feature", "id": 1, "geometry": ["type": "Point", "coordinates": [0, 0]],
                        "properties": ["kind": "odd"],
                    ]
                ],
            ])
        let item = try #require(try watcher.receive()["item"])
        #expect(item["revision"] == changed["revision"])
        #expect(item["add"]?.array?.count == 1)
        #expect(item["remove"]?.array?.count == 1)
        for name in ["s", "s:odd", "s:wide"] {
            #expect(try served.clusters(name, zoom: 4)["revision"] == changed["revision"])
        }
    }

    @Test("descriptions and metrics have an entry for each view") func descriptions() throws {
        let served = try Served()
        let source = try served.json("/sources/s")
        #expect(source["options"]?["views"] == (try JSONReader.parse(Served.views)))
        let view = try served.socket.call("SourceService/GetSource", ["source": "s:odd"])
        #expect(view["source"] == "s:odd")
        #expect(view["points"] == 300)
        #expect(view["revision"] == source["revision"])
        #expect(view["options"]?["filter"] == Self.odd)
        #expect(view["options"]?["maxZoom"] == 8)
        #expect(view["options"]?["views"] == nil)
        let (whole, part) = (source["memoryBytes"]?.number ?? 0, view["memoryBytes"]?.number ?? 0)
        #expect(part > 0 && part < whole / 2, "\(part) of \(whole)")
        let statistics = try served.socket.call("ServerService/GetStats")
        #expect(statistics["sources"]?.array?.compactMap { $0["source"]?.string } == ["s", "s:odd", "s:wide"])
        let metrics = try served.http.get("/metrics").text
        #expect(metrics.contains(#"clusterd_source_points{source="s:odd"} 300"#), "\(metrics)")
        #expect(try served.control("source", "s").output.contains("s:odd, s:wide"))
        let names = try served.control("complete", "sources").output.split(separator: "\n")
        #expect(names == ["s", "s:odd", "s:wide"])
    }

    @Test("calls that change refuse a view and name its source") func refusals() throws {
        let served = try Served()
        let calls: [(String, JSONValue)] = [
            ("UpdateFeatures", ["source": "s:odd", "remove": [1]]),
            ("UpdateOptions", ["source": "s:odd", "options": [:]]),
            ("CreateSource", ["source": "s:new"]), ("DeleteSource", ["source": "s:odd"]),
            ("ImportFeatures", ["source": "s:odd"]), ("LoadFile", ["source": "s:odd", "path": "x"]),
        ]
        for (method, params) in calls {
            let failure = try served.socket.failure("SourceService/" + method, params)
            #expect(failure.status == "INVALID_ARGUMENT", "\(method): \(failure)")
            #expect(failure.message.contains("view of the source 's'"), "\(method): \(failure)")
        }
        let put = try served.http.exchange("PUT", "/sources/s:odd/features", body: Array("[]".utf8))
        #expect(put.status == 400, "\(put.text)")
        let unknown = try served.socket.failure("SourceService/GetSource", ["source": "s:none"])
        #expect(unknown.status == "NOT_FOUND" && unknown.message.contains("'s:odd', 's:wide'"), "\(unknown)")
        for name in ["nowhere:odd", "s:odd:x", "s:", ":odd", "s:.."] {
            let failure = try served.socket.failure("SourceService/GetSource", ["source": .string(name)])
            let status = name.hasPrefix("nowhere") ? "NOT_FOUND" : "INVALID_ARGUMENT"
            #expect(failure.status == status, "\(name): \(failure)")
        }
    }

    @Test("a reload of the configuration adds, changes and removes views while the source answers")
    func reload() throws {
        let served = try Served()
        let watcher = try served.daemon.client()
        _ = try watcher.open(
            "ClusterService/WatchClusters", ["source": "s:odd", "bbox": [-180, -90, 180, 90], "zoom": 3])
        _ = try watcher.receive()
        let before = try served.clusters("s:wide", zoom: 3)
        let views = #"{"wide":{"radius":200,"maxZoom":5},"even":{"filter":["==",["get","kind"],"even"]}}"#
        try Served.configuration(views, served.folder).write(
            toFile: served.folder + "/clusterd.json", atomically: true, encoding: .utf8)
        kill(served.daemon.process.processIdentifier, SIGHUP)
        // The watch of the view that is removed ends once the new options are in effect.
        var error: JSONValue?
        while error == nil { error = try watcher.receive()["error"] }
        #expect(RawClient.status(error).status == "NOT_FOUND")
        #expect(Self.counts(try served.clusters("s:even", zoom: 4)).reduce(0, +) == 300)
        // Unchanged views are kept, and so are their clusters' ids.
        #expect(try served.clusters("s:wide", zoom: 3)["features"] == before["features"])
        #expect(try served.socket.failure("SourceService/GetSource", ["source": "s:odd"]).status == "NOT_FOUND")
        let wrong = Served.configuration(#"{"bad name":{}}"#, served.folder)
        try wrong.write(toFile: served.folder + "/wrong.json", atomically: true, encoding: .utf8)
        let checked = try DaemonProcess.run("clusterd", ["--config", served.folder + "/wrong.json", "--check-config"])
        #expect(checked.status == 2)
        #expect(checked.errors.contains("sources.s.options.views.bad name"), "\(checked.errors)")
    }
}
