// SPDX-License-Identifier: MIT
import Compression
import Foundation
import JSON
import TestSupport
import Testing

/// Every resource, beside the same call over the Unix socket.
@Suite("HTTP resources") struct HTTPResourceTests {
    let daemon: DaemonProcess
    let socket: RawClient
    let http: HTTPClient

    init() throws {
        daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        socket = try daemon.client()
        http = try daemon.http()
        _ = try socket.call("SourceService/CreateSource", ["source": "s"])
        _ = try socket.call(
            "SourceService/UpdateFeatures", ["source": "s", "upsert": try JSONReader.parse(Self.features(2000))])
    }

    static func features(_ count: Int) -> String {
        let list = (0..<count).map {
            #"{"type":"Feature","id":\#($0 + 1),"geometry":{"type":"Point","coordinates":[\#(Double($0 % 20) / 4),\#(Double($0 / 20) / 10)]},"properties":{"n":\#($0),"kind":"\#($0 % 2 == 0 ? "even" : "odd")"}}"#
        }
        return "[\(list.joined(separator: ","))]"
    }

    func json(_ target: String, _ fields: [String] = []) throws -> JSONValue {
        let response = try http.get(target, fields)
        try #require(response.status == 200, "\(target): \(response.status) \(response.text)")
        return try JSONReader.parse(response.body)
    }

    @Test("answers equal those of the socket") func answersAreThoseOfTheSocket() throws {
        let cluster = try #require(
            try json("/sources/s/clusters?zoom=2")["features"]?.array?.first { $0["properties"]?["cluster"] != nil })
        let id = try #require(cluster["id"]?.number)
        let text = String(Int64(id))
        let pairs: [(String, String, JSONValue)] = [
            ("/sources/s", "SourceService/GetSource", ["source": "s"]), ("/sources", "SourceService/ListSources", [:]),
            (
                "/sources/s/clusters?zoom=3&bbox=-10,-10,30,30", "ClusterService/GetClusters",
                ["source": "s", "zoom": 3, "bbox": [-10, -10, 30, 30]]
            ),
            (
                "/sources/s/clusters?zoom=5&limit=3&precision=1&properties=n&include=hull,bbox&filter=%5B%22%3D%3D%22%2C%5B%22get%22%2C%22kind%22%5D%2C%22odd%22%5D",
                "ClusterService/GetClusters",
                [
                    "source": "s", "zoom": 5, "bbox": [-180, -90, 180, 90], "limit": 3, "precision": 1,
                    "properties": ["n"], "include": ["hull", "bbox"], "filter": ["==", ["get", "kind"], "odd"],
                ]
            ),
            (
                "/sources/s/tiles/1/1/0.json", "ClusterService/GetTile",
                ["source": "s", "z": 1, "x": 1, "y": 0]
            ),
            (
                "/sources/s/clusters/\(text)/children", "ClusterService/GetChildren",
                ["source": "s", "clusterId": .number(id)]
            ),
            (
                "/sources/s/clusters/\(text)/leaves?limit=3&offset=1", "ClusterService/GetLeaves",
                ["source": "s", "clusterId": .number(id), "limit": 3, "offset": 1]
            ),
            (
                "/sources/s/clusters/\(text)/expansion-zoom", "ClusterService/GetClusterExpansionZoom",
                ["source": "s", "clusterId": .number(id)]
            ),
            (
                "/sources/s/clusters/\(text)/hull", "ClusterService/GetConvexHull",
                ["source": "s", "clusterId": .number(id)]
            ),
            (
                "/sources/s/features/7?zoom=4", "ClusterService/LocateFeature",
                ["source": "s", "featureId": 7, "zoom": 4]
            ),
        ]
        for (target, method, params) in pairs {
            #expect(try json(target) == (try socket.call(method, params)), "\(target)")
        }
    }

    @Test("clusters found with a filter that depends on the zoom are named with that zoom")
    func clustersOfAFilterOfTheZoom() throws {
        let text = #"["<",["get","n"],["*",300,["+",1,["zoom"]]]]"#
        let filter = try JSONReader.parse(text)
        let encoded = try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        for zoom in [0, 1, 3] {
            let found = try json("/sources/s/clusters?zoom=\(zoom)&filter=\(encoded)")["features"]?.array ?? []
            let clusters = found.filter { $0["properties"]?["cluster"] == true }
            let total = clusters.reduce(0) { $0 + Int($1["properties"]?["point_count"]?.number ?? 0) }
            #expect(total + found.count - clusters.count == min(2000, 300 * (1 + zoom)))
            let cluster = try #require(clusters.first)
            let id = try #require(cluster["id"]?.number)
            let path = "/sources/s/clusters/\(Int64(id))"
            let query = "filter=\(encoded)&zoom=\(zoom)"
            let count = cluster["properties"]?["point_count"]
            let leaves = try json("\(path)/leaves?limit=0&\(query)")
            #expect(leaves["total"] == count)
            let limit = 300 * Double(1 + zoom)
            #expect(leaves["features"]?.array?.allSatisfy { ($0["properties"]?["n"]?.number ?? .nan) < limit } == true)
            #expect(try json("\(path)/hull?\(query)")["properties"]?["point_count"] == count)
            let params: JSONValue = [
                "source": "s", "clusterId": .number(id), "filter": filter, "zoom": .number(Double(zoom)),
            ]
            for (method, resource) in [("GetChildren", "children"), ("GetClusterExpansionZoom", "expansion-zoom")] {
                let answer = try socket.call("ClusterService/\(method)", params)
                #expect(try json("\(path)/\(resource)?\(query)") == answer)
            }
            let refused = try http.get("\(path)/leaves?filter=\(encoded)")
            #expect(refused.status == 400 && refused.text.contains("params.zoom is missing"), "\(refused.text)")
        }
    }

    @Test("tiles have the bytes of the call") func tilesAreTheBytesOfTheCall() throws {
        let answer = try socket.call(
            "ClusterService/GetTile", ["source": "s", "z": 0, "x": 0, "y": 0, "encoding": "mvt"])
        let tile = try http.get("/sources/s/tiles/0/0/0.mvt")
        #expect(tile.status == 200)
        #expect(tile["content-type"] == "application/vnd.mapbox-vector-tile")
        #expect(Data(tile.body).base64EncodedString() == answer["tile"]?.string)
        let empty = try http.get("/sources/s/tiles/9/0/0.mvt")
        #expect(empty.status == 204)
        #expect(empty["content-length"] == nil)
        #expect(empty["etag"] != nil)
    }

    @Test("compressed answers are the same bytes") func compressedAnswersAreTheSameBytes() throws {
        for target in [
            "/sources/s/tiles/8/129/125.mvt", "/sources/s/tiles/8/129/125.json", "/sources/s/clusters?zoom=9",
            "/metrics",
        ] {
            let plain = try http.get(target)
            // Once made, once from what is kept.
            for _ in 0..<2 {
                let packed = try http.get(target, ["Accept-Encoding: br, gzip"])
                #expect(packed.status == 200)
                guard target != "/metrics" else { continue }
                #expect(packed["content-encoding"] == "gzip", "\(target)")
                #expect(packed["vary"]?.contains("Accept-Encoding") == true)
                #expect(try Zlib.inflate(packed.body, format: .gzip, limit: 1 << 24) == plain.body, "\(target)")
                #expect(packed["etag"] != plain["etag"])
            }
            #expect(try http.get(target, ["Accept-Encoding: gzip;q=0"])["content-encoding"] == nil)
        }
    }

    @Test("every answer of the data varies with the encoding, and a large feature is compressed")
    func answersOfTheDataVary() throws {
        let text = String(repeating: "long text ", count: 400)
        _ = try socket.call(
            "SourceService/UpdateFeatures",
            [
                "source": "s",
                "upsert": [
                    [
                        "type": "Feature", "id": "large", "geometry": ["type": "Point", "coordinates": [120, 60]],
                        "properties": ["text": .string(text)],
                    ]
                ],
            ])
        let clusters = try json("/sources/s/clusters?zoom=2")["features"]?.array
        let cluster = try #require(clusters?.first { $0["properties"]?["cluster"] != nil })
        let id = Int64(try #require(cluster["id"]?.number))
        for target in [
            "/sources/s/features/large?zoom=3", "/sources/s/clusters/\(id)/expansion-zoom",
            "/sources/s/clusters/\(id)/hull", "/sources/s/tiles/9/0/0.mvt",
        ] {
            let plain = try http.get(target)
            let tag = try #require(plain["etag"], "\(target)")
            #expect(plain["cache-control"] != nil && plain["vary"] == "Accept-Encoding", "\(target)")
            let again = try http.get(target, ["If-None-Match: \(tag)"])
            #expect(again.status == 304 && again["vary"] == "Accept-Encoding", "\(target)")
        }
        let plain = try http.get("/sources/s/features/large?zoom=3")
        let packed = try http.get("/sources/s/features/large?zoom=3", ["Accept-Encoding: gzip"])
        #expect(packed["content-encoding"] == "gzip")
        #expect(try Zlib.inflate(packed.body, format: .gzip, limit: 1 << 20) == plain.body)
    }

    @Test("an unknown source is reported before other errors") func anUnknownSourceIsNamedFirst() throws {
        for target in ["clusters", "features/1", "tiles/99/0/0.mvt", "clusters/x/leaves?limit=-1"] {
            #expect(try http.get("/sources/nothing/\(target)").status == 404, "\(target)")
        }
    }

    @Test("cached tiles are replaced when the data change") func tilesThatAreKeptAreReplacedWhenTheDataChange() throws {
        let target = "/sources/s/tiles/0/0/0.json"
        for count in [0, 1, 2] {
            let body = try JSONReader.parse(try http.get(target, ["Accept-Encoding: gzip;q=0"]).body)
            #expect(body == (try socket.call("ClusterService/GetTile", ["source": "s", "z": 0, "x": 0, "y": 0])))
            #expect(try http.get(target).body == (try http.get(target).body))
            _ = try socket.call(
                "SourceService/UpdateFeatures", ["source": "s", "remove": [.number(Double(count + 1))]])
        }
    }

    @Test(
        "files are imported by PUT",
        arguments: [
            ("application/geo+json", "{\"type\":\"FeatureCollection\",\"features\":[\(one),\(two)]}"),
            ("application/geo+json-seq", "\u{1E}\(one)\n\u{1E}\(two)\n"),
            ("application/x-ndjson", "\(one)\n\(two)\n"),
            ("text/csv; charset=utf-8", "x,y,name\n1,2,a\n3,4,b\n"), ("", "\(one)\n\(two)\n"),
        ])
    func filesAreImportedByPut(_ type: String, _ text: String) throws {
        let fields = type.isEmpty ? [] : ["Content-Type: \(type)"]
        let packed = try Self.gzip(text)
        for (body, more) in [(Array(text.utf8), [String]()), (packed, ["Content-Encoding: gzip"])] {
            let answer = try http.exchange("PUT", "/sources/s/features", fields + more, body: body)
            #expect(answer.status == 200, "\(answer.text)")
            let description = try JSONReader.parse(answer.body)
            #expect(description["accepted"] == 2)
            #expect(description["points"] == 2)
        }
        // In chunks of any size, and more of it.
        var request = http.request("PUT", "/sources/s/features?mode=append", fields + ["Transfer-Encoding: chunked"])
        for piece in Array(text.utf8).chunked(7) {
            request += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
        }
        try http.send(request + Array("0\r\n\r\n".utf8))
        #expect(try JSONReader.parse(try http.receive().body)["points"] == 4)
    }

    private static let one =
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"a"}}"#
    private static let two =
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[3,4]},"properties":{"name":"b"}}"#

    private static func gzip(_ text: String) throws -> [UInt8] {
        var stream = try DeflateStream(format: .gzip)
        var packed: [UInt8] = []
        _ = try stream.compress(Array(text.utf8).span, appendingTo: &packed)
        return packed
    }

    @Test("invalid imports leave the data unchanged") func badImportsLeaveTheDataAlone() throws {
        let type = "Content-Type: application/x-ndjson"
        func put(_ target: String, _ fields: [String], _ text: String) throws -> HTTPClient.Response {
            let client = try daemon.http()
            return try client.exchange("PUT", target, fields, body: Array(text.utf8))
        }
        let bad = try put("/sources/s/features", [type], "\(Self.one)\n{\"type\":\"Feature\"}\n")
        #expect(bad.status == 400 && bad.text.contains("INVALID_ARGUMENT"), "\(bad.text)")
        for blank in ["", "\n"] {
            let empty = try put("/sources/s/features", [type], blank)
            #expect(empty.status == 400 && empty.text.contains("allowEmpty"), "\(empty.text)")
        }
        #expect(try put("/sources/s/features", ["Content-Type: image/png"], "x").status == 415)
        #expect(try put("/sources/s/features", [type, "Content-Encoding: br"], "x").status == 415)
        #expect(try put("/sources/none/features", [type], Self.one).status == 404)
        #expect(try put("/sources/s/features?mode=all", [type], Self.one).text.contains("params.mode"))
        #expect(try put("/sources/s/features?q=1", [type], Self.one).status == 400)
        // A client that goes in the midst has imported nothing.
        let gone = try daemon.http()
        try gone.send(
            "PUT /sources/s/features HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n\(Self.one)\n")
        gone.finishSending()
        #expect(try gone.isClosed())
        let skipped = try put(
            "/sources/s/features?mode=append&onInvalid=skip", [type], "\(Self.one)\n{\"type\":\"Feature\"}\n")
        #expect(try JSONReader.parse(skipped.body)["skipped"] == 1)
        #expect(try socket.call("SourceService/GetSource", ["source": "s"])["points"] == 2001)
    }

    @Test("large bodies of calls are read, and those of too many values are refused")
    func largeBodiesOfCallsAreRead() throws {
        let type = ["Content-Type: application/json"]
        let daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        let http = try daemon.http()
        let path = "/clusterd.v1.SourceService/"
        #expect(
            try http.exchange("POST", path + "CreateSource", type, body: Array(#"{"source":"a"}"#.utf8)).status == 200)
        let features = Array(#"{"source":"a","upsert":\#(Self.features(5000))}"#.utf8)
        #expect(features.count > 256 << 10)
        let changed = try http.exchange("POST", path + "UpdateFeatures", type, body: features)
        #expect(changed.status == 200 && changed.text.contains("\"inserted\":5000"), "\(changed.text)")
        let broken = try http.exchange("POST", path + "UpdateFeatures", type, body: features.dropLast())
        #expect(broken.status == 400 && broken.text.contains("not JSON"), "\(broken.text)")
        // Requests behind a large body wait for its answer.
        let other = http.request("POST", path + "GetSource", type, body: Array(#"{"source":"a"}"#.utf8))
        try http.send(http.request("POST", path + "UpdateFeatures", type, body: features) + other)
        #expect(try http.receive().text.contains("\"updated\":5000"))
        #expect(try http.receive().text.contains("\"points\":5000"))
        let values =
            Array(#"{"source":"a","x":["#.utf8) + Array(repeating: UInt8(ascii: "1"), count: 1)
            + (0..<(3 << 20)).flatMap { _ in Array(",1".utf8) } + Array("]}".utf8)
        let refused = try http.exchange("POST", path + "GetSource", type, body: values)
        #expect(refused.status == 413 && refused.text.contains("values"), "\(refused.text)")
    }

    @Test("large uploads wait for \"100 Continue\"") func largeUploadsWaitForContinue() throws {
        let text = Self.features(3000)
        let body = Array("{\"type\":\"FeatureCollection\",\"features\":\(text)}".utf8)
        try http.send(
            "PUT /sources/s/features HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/geo+json\r\nExpect: 100-continue\r\nContent-Length: \(body.count)\r\n\r\n"
        )
        #expect(try http.receive().status == 100)
        try http.send(body)
        #expect(try JSONReader.parse(try http.receive().body)["points"] == 3000)
        try http.send(
            "PUT /sources/none/features HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        )
        #expect(try http.receive().status == 404)
        #expect(try http.isClosed())
    }

    @Test("the bounds of a planar source are those of its tiles on a map")
    func theBoundsOfAPlaneAreWhereAMapShowsItsTiles() throws {
        _ = try socket.call(
            "SourceService/CreateSource",
            ["source": "plane", "options": ["projection": ["planar": [0, 0, 1000, 500]]]])
        let corners = #"[[0,500],[1000,0]]"#
        let features = try JSONReader.parse(corners).array?.enumerated().map { place, position in
            #"{"type":"Feature","id":\#(place),"geometry":{"type":"Point","coordinates":\#(position.text)},"properties":{}}"#
        }
        _ = try socket.importFeatures("plane", features ?? [])
        let bounds = try #require(try json("/sources/plane/tiles.json")["bounds"]?.array?.compactMap(\.number))
        let expected = [-180, 0, 180, 85.0511287798066]
        #expect(bounds.count == 4 && zip(bounds, expected).allSatisfy { abs($0 - $1) < 1e-9 }, "\(bounds)")
    }

    @Test("tiles are described") func tilesAreDescribed() throws {
        let plain = try json("/sources/s/tiles.json", ["Host: localhost"])
        #expect(plain["tilejson"] == "3.0.0")
        #expect(plain["minzoom"] == 0)
        #expect(plain["maxzoom"] == 17)
        #expect(plain["tiles"] == ["http://localhost/sources/s/tiles/{z}/{x}/{y}.mvt"])
        #expect(plain["bounds"] == [0, 0, 4.75, 9.9])
        let layer = try #require(plain["vector_layers"]?.array?.first)
        #expect(layer["id"] == "s")
        #expect(
            layer["fields"] == [
                "cluster": "Boolean", "cluster_id": "Number", "point_count": "Number",
                "point_count_abbreviated": "Mixed", "n": "Number", "kind": "String",
            ])
        let filtered = try http.get(
            "/sources/s/tiles.json?filter=%5B%22%3E%22,%5B%22get%22,%22n%22%5D,1%5D",
            ["Host: localhost", "X-Forwarded-Proto: https, http"])
        let url = try #require(try JSONReader.parse(filtered.body)["tiles"]?.array?.first?.string)
        #expect(url.hasPrefix("https://localhost/sources/s/tiles/{z}/{x}/{y}.mvt?filter="))
        #expect(filtered["etag"] != nil)
        #expect(filtered["vary"]?.contains("X-Forwarded-Proto") == true)
        let path = String(url.dropFirst("https://localhost".count)).replacing("{z}", with: "0").replacing(
            "{x}", with: "0"
        ).replacing("{y}", with: "0")
        #expect(try http.get(path).status == 200)
        #expect(try http.get("/sources/s/tiles.json?filter=%5B%22no%22%5D").status == 400)
    }

    @Test("methods are called by POST") func methodsAreCalledByPost() throws {
        let type = "Content-Type: application/json; charset=utf-8"
        func post(_ method: String, _ body: String, _ fields: [String]) throws -> HTTPClient.Response {
            try http.exchange("POST", "/clusterd.v1.\(method)", fields, body: Array(body.utf8))
        }
        let source = try post("SourceService/GetSource", "{\"source\":\"s\"}", [type])
        #expect(source.status == 200)
        #expect(try JSONReader.parse(source.body) == (try socket.call("SourceService/GetSource", ["source": "s"])))
        #expect(try post("ServerService/Check", "", [type]).text == "{\"status\":\"SERVING\"}")
        let feature =
            #"{"type":"Feature","id":"new","geometry":{"type":"Point","coordinates":[1.50,2]},"properties":{"a":1.0}}"#
        let update = try post("SourceService/UpdateFeatures", "{\"source\":\"s\",\"upsert\":[\(feature)]}", [type])
        #expect(update.status == 200, "\(update.text)")
        #expect(try http.get("/sources/s/features/new?zoom=20").text.contains("\"a\":1.0"))
        #expect(try post("ServerService/Check", "{}", []).status == 415)
        #expect(try post("ServerService/Check", "{}", ["Content-Type: text/plain"]).status == 415)
        #expect(try post("ServerService/Check", "[]", [type]).status == 400)
        #expect(try post("ServerService/Check", "{", [type]).status == 400)
        #expect(try post("ServerService/Nothing", "{}", [type]).status == 501)
        #expect(try post("ServerService/Check", "{\"a\":1}", [type]).text.contains("params.a"))
        let watch = try post("ClusterService/WatchClusters", "{}", [type])
        #expect(watch.status == 501)
        #expect(watch.text.contains("/sources/S/watch"))
        let load = try post("SourceService/ImportFeatures", "{}", [type])
        #expect(load.status == 501)
        #expect(load.text.contains("PUT /sources/S/features"))
        let late = try post(
            "ClusterService/GetClusters", #"{"source":"s","bbox":[-180,-90,180,90],"zoom":1}"#,
            [type, "Connect-Timeout-Ms: 0"])
        #expect(late.status == 504)
        #expect(late.text.contains("\"code\":\"deadline_exceeded\""))
        #expect(try post("ServerService/Check", "{}", [type, "Connect-Timeout-Ms: soon"]).status == 400)
    }

    @Test("errors have the socket's messages") func errorsHaveTheSocketsMessages() throws {
        let pairs: [(String, Int, String, JSONValue)] = [
            ("/sources/none", 404, "SourceService/GetSource", ["source": "none"]),
            ("/sources/s/clusters", 400, "ClusterService/GetClusters", ["source": "s", "bbox": [-180, -90, 180, 90]]),
            (
                "/sources/s/clusters?zoom=x", 400, "ClusterService/GetClusters",
                ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": "x"]
            ),
            (
                "/sources/s/clusters?zoom=1&bbox=1,2,3", 400, "ClusterService/GetClusters",
                ["source": "s", "zoom": 1, "bbox": [1, 2, 3]]
            ),
            (
                "/sources/s/clusters?zoom=1&filter=%5B%22nonsense%22%5D", 400, "ClusterService/GetClusters",
                ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 1, "filter": ["nonsense"]]
            ),
            (
                "/sources/s/clusters?zoom=1&revision=999", 409, "ClusterService/GetClusters",
                ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 1, "revision": 999]
            ),
            (
                "/sources/s/clusters/3/children", 404, "ClusterService/GetChildren",
                ["source": "s", "clusterId": 3]
            ),
            (
                "/sources/s/clusters/x/hull", 400, "ClusterService/GetConvexHull",
                ["source": "s", "clusterId": "x"]
            ),
            (
                "/sources/s/tiles/1/2/0.mvt", 400, "ClusterService/GetTile",
                ["source": "s", "z": 1, "x": 2, "y": 0]
            ),
            (
                "/sources/s/features/nobody?zoom=1", 404, "ClusterService/LocateFeature",
                ["source": "s", "featureId": "nobody", "zoom": 1]
            ),
        ]
        for (target, status, method, params) in pairs {
            let response = try http.get(target)
            let body = try JSONReader.parse(response.body)
            let error = try socket.exchange(method, params)["error"]
            #expect(response.status == status, "\(target)")
            #expect(body["message"] == error?["message"], "\(target)")
            #expect(body["status"] == error?["status"])
            #expect(body["code"]?.string == error?["status"]?.string?.lowercased())
            #expect(body["details"] != nil)
        }
    }

    @Test("unknown parameters are named") func unknownParametersAreNamed() throws {
        for (target, name) in [
            ("/sources/s/clusters?zoom=1&zom=2", "zom"), ("/sources/s?filter=1", "filter"),
            ("/health?x=1", "x"),
            ("/metrics?x", "x"), ("/sources/s/tiles/0/0/0.mvt?encoding=json", "encoding"),
            ("/sources?a=b", "a"),
            ("/sources/s/clusters?zoom=1&source=t", "source"),
            ("/sources/s/watch?bbox=0,0,1,1&zoom=1&q=1", "q"),
        ] {
            let response = try http.get(target)
            #expect(response.status == 400 && response.text.contains("\\\"\(name)\\\""), "\(target): \(response.text)")
        }
    }

    @Test("methods that a resource does not have are refused") func methodsThatAResourceDoesNotHaveAreRefused() throws {
        for (method, target, allowed) in [
            ("DELETE", "/sources/s", "GET, HEAD, OPTIONS"), ("PUT", "/sources/s", "GET, HEAD, OPTIONS"),
            ("POST", "/sources/s/features", "GET, HEAD, PUT, OPTIONS"), ("BREW", "/", "GET, HEAD, OPTIONS"),
            ("GET", "/clusterd.v1.SourceService/DeleteSource", "POST, OPTIONS"),
            ("PUT", "/clusterd.v1.ServerService/Check", "GET, HEAD, POST, OPTIONS"),
            ("POST", "/sources/s/watch", "GET, HEAD, OPTIONS"),
        ] {
            let response = try http.exchange(method, target)
            #expect(response.status == 405 && response["allow"] == allowed, "\(method) \(target)")
        }
        let options = try http.exchange("OPTIONS", "/sources/s/features")
        #expect(options.status == 204)
        #expect(options["allow"] == "GET, HEAD, PUT, OPTIONS")
        #expect(try http.exchange("OPTIONS", "*").status == 204)
        #expect(try http.get("/nothing").status == 404)
    }

    @Test("HEAD has the fields of GET") func headHasTheFieldsOfGet() throws {
        for target in [
            "/sources/s", "/sources/s/tiles/0/0/0.mvt", "/sources/s/clusters?zoom=1", "/", "/nothing", "/health",
        ] {
            let get = try http.get(target)
            let head = try http.exchange("HEAD", target)
            #expect(head.status == get.status)
            #expect(head.body.isEmpty)
            #expect(head["content-length"] == get["content-length"], "\(target)")
            #expect(head["etag"] == get["etag"])
            #expect(head["content-type"] == get["content-type"])
        }
    }

    @Test("health and metrics are reported") func healthAndMetricsAreReported() throws {
        #expect(try http.get("/health").text == "{\"status\":\"SERVING\"}")
        let metrics = try http.get("/metrics")
        #expect(metrics["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(metrics.text.contains("\nclusterd_http_connections 1\n"))
        #expect(metrics.text.contains("clusterd_http_requests_total{status=\"2xx\"} 1\n"))
        let info = try socket.call("ServerService/GetServerInfo")
        #expect(info["limits"]?["http"]?["maxHeadBytes"] == 16384)
        #expect(info["limits"]?["http"]?["maxBodyBytes"] == 16777216)
    }

    @Test("answers say how long the daemon took") func serverTiming() throws {
        let timing = try #require(try http.get("/sources")["server-timing"])
        #expect(
            timing.range(of: #"^daemon;dur=\d+\.\d{3}$"#, options: .regularExpression) != nil, "\(timing)")
    }

    @Test("the ground's tiles are served plain and gzipped, with a description") func ground() throws {
        let packed = try http.get("/ground/3/4/2.mvt", ["Accept-Encoding: gzip"])
        #expect(packed.status == 200)
        #expect(packed["content-encoding"] == "gzip")
        #expect(packed["content-type"] == "application/vnd.mapbox-vector-tile")
        let plain = try http.get("/ground/3/4/2.mvt")
        #expect(plain["content-encoding"] == nil)
        #expect(plain.body.count > packed.body.count)
        #expect(try Zlib.inflate(packed.body, format: .gzip, limit: 1 << 20) == plain.body)
        #expect(plain["etag"] != packed["etag"])
        #expect(try http.get("/ground/3/4/2.mvt", ["If-None-Match: \(plain["etag"] ?? "")"]).status == 304)
        #expect(try http.get("/ground/4/0/9.mvt").status == 204)
        for path in ["/ground/5/0/0.mvt", "/ground/1/2/0.mvt", "/ground/1/0/0.json", "/ground/-1/0/0.mvt", "/ground"] {
            #expect(try http.get(path).status == 404, "\(path)")
        }
        #expect(try http.get("/ground/1/0/0.mvt?a=1").status == 400)
        let description = try http.get("/ground/tiles.json")
        #expect(description.text.contains("\"maxzoom\":4"))
        #expect(description.text.contains("/ground/{z}/{x}/{y}.mvt"))
    }

    @Test("the page and its assets are served") func thePageAndItsAssetsAreServed() throws {
        let page = try http.get("/?source=s&filter=x")
        #expect(page.status == 200)
        #expect(page["content-type"] == "text/html; charset=utf-8")
        #expect(page["content-security-policy"]?.contains("default-src 'self'") == true)
        let unchanged = try http.get("/", ["If-None-Match: \(page["etag"] ?? "")"])
        #expect(unchanged.status == 304)
        #expect(unchanged["content-security-policy"] == page["content-security-policy"])
        let names = page.text.split(separator: "\"").filter { $0.hasPrefix("/assets/") }
        #expect(!names.isEmpty)
        for name in names { #expect(try http.get(String(name)).status == 200, "\(name)") }
        #expect(try http.get("/assets/settings.json").text == "{\"basemap\":null}")
        let outline = try http.get("/assets/world-110m.geojson", ["Accept-Encoding: gzip"])
        #expect(outline["content-encoding"] == "gzip")
        #expect(try http.get("/assets/world-110m.geojson", ["If-None-Match: \(outline["etag"] ?? "")"]).status == 304)
        for target in [
            "/assets/../Package.swift", "/assets/..%2fPackage.swift", "/assets/%2e%2e/Package.swift",
            "/assets//etc/passwd",
            "/assets/leaflet/../leaflet/leaflet.js", "/assets/leaflet/..%5cx.js", "/assets/.hidden.js",
            "/assets/",
            "/assets/images", "/assets/leaflet/%00.js",
        ] {
            let status = try http.get(target).status
            #expect(status == 404 || status == 400, "\(target)")
        }
    }
}

extension Array {
    fileprivate func chunked(_ size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
