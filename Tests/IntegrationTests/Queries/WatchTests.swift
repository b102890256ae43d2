// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Watching over the socket") struct WatchTests {
    let daemon: DaemonProcess
    let client: RawClient
    let other: RawClient
    private static let method = "ClusterService/WatchClusters"
    private static let world: JSONValue = [-180, -90, 180, 90]

    init() throws {
        daemon = try DaemonProcess()
        client = try daemon.client()
        other = try daemon.client()
        _ = try other.call("SourceService/CreateSource", ["source": "s"])
    }

    private func watch(_ more: [String: JSONValue] = [:], extra: String = "") throws -> Int64 {
        var params: [String: JSONValue] = ["source": "s", "bbox": Self.world, "zoom": 3]
        params.merge(more) { $1 }
        return try client.open(Self.method, .object(JSONObject(params.map { ($0.key, $0.value) })), extra: extra)
    }

    private func item() throws -> JSONValue {
        let message = try client.receive()
        return try #require(message["item"], "\(JSONValue.object(message).text)")
    }

    private func failure() throws -> (status: String, message: String) {
        RawClient.status(try client.receive()["error"])
    }

    private func upsert(_ features: String...) throws {
        let features = try JSONReader.parse("[\(features.joined(separator: ","))]")
        _ = try other.call("SourceService/UpdateFeatures", ["source": "s", "upsert": features])
    }

    private static func point(_ id: Int, _ x: Double, _ y: Double) -> String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]},"properties":null}"#
    }

    @Test("from the empty start to the end") func life() throws {
        let id = try watch()
        #expect(try item().text == #"{"add":[],"remove":[],"keep":0,"revision":0}"#)
        try upsert(Self.point(1, 10, 10))
        #expect(try item()["add"]?.array?.count == 1)
        try client.send(#"{"id":\#(id),"item":{"bbox":[20,20,30,30],"zoom":3}}"#)
        #expect(try item()["remove"]?.array?.count == 1)
        try client.send(#"{"id":\#(id),"end":true}"#)
        #expect(try client.receive()["end"] == [:])
        // The id is free again.
        #expect(try client.exchange("ServerService/Check")["result"] != nil)
    }

    @Test("a client that ends its stream at once gets the current features") func endAtOnce() throws {
        let id = try watch()
        try client.send(#"{"id":\#(id),"end":true}"#)
        #expect(try item()["keep"] == 0)
        #expect(try client.receive()["end"] == [:])
    }

    @Test("cancellation, a deadline, and a deleted source end it") func endings() throws {
        var id = try watch()
        _ = try item()
        try client.send(#"{"id":\#(id),"cancel":true}"#)
        #expect(try failure().status == "CANCELLED")
        id = try watch(extra: #","timeoutMs":20"#)
        var last = try client.receive()
        while last["error"] == nil { last = try client.receive() }
        #expect(RawClient.status(last["error"]).status == "DEADLINE_EXCEEDED")
        _ = try watch()
        _ = try item()
        _ = try other.call("SourceService/DeleteSource", ["source": "s"])
        #expect(try failure().status == "NOT_FOUND")
        _ = try watch()
        #expect(try failure().status == "NOT_FOUND")
    }

    @Test("shutting down ends it without waiting") func shutDown() throws {
        _ = try watch()
        _ = try item()
        kill(daemon.process.processIdentifier, SIGTERM)
        #expect(try failure().status == "UNAVAILABLE")
        #expect(daemon.process.waitForEnd() == 0)
    }

    @Test("a client that closes its side without an end is cancelled") func halfClosed() throws {
        _ = try watch()
        _ = try item()
        client.finishSending()
        #expect(try failure().status == "CANCELLED")
        #expect(client.isClosed())
    }

    @Test("its latency is that of its first change") func latency() throws {
        let clock = ContinuousClock()
        let start = clock.now
        let id = try watch()
        _ = try item()
        let first = start.duration(to: clock.now)
        while start.duration(to: clock.now) < first * 2 { _ = try other.call("ServerService/Check") }
        try client.send(#"{"id":\#(id),"cancel":true}"#)
        #expect(try failure().status == "CANCELLED")
        let methods = try other.call("ServerService/GetStats")["methods"]
        let longest = methods?["clusterd.v1.\(Self.method)"]?["latencyMs"]?["max"]?.number
        #expect((longest ?? .infinity) < first / .milliseconds(1))
    }

    @Test("invalid params and items are named") func badInput() throws {
        let params: [(String, JSONValue, String)] = [
            ("maxRateHz", 0, "params.maxRateHz"), ("maxRateHz", -1, "params.maxRateHz"),
            ("maxRateHz", "x", "params.maxRateHz"),
            ("bbox", [0, 0, "x", 1], "params.bbox[2]"), ("zoom", "x", "params.zoom"),
            ("colour", 1, "params.colour"), ("limit", -1, "params.limit"),
            ("include", ["hull", "x"], "params.include[1]"), ("filter", ["no"], "params.filter"),
        ]
        for (name, value, path) in params {
            _ = try watch([name: value])
            let (status, message) = try failure()
            #expect(status == "INVALID_ARGUMENT" && message.hasPrefix(path), "\(message)")
        }
        let items = [
            (#"{"bbox":[0,0,null,1],"zoom":1}"#, "item.bbox[2]"),
            (#"{"bbox":[0,0,1],"zoom":1}"#, "item.bbox"),
            (#"{"zoom":1}"#, "item.bbox"), (#"{"bbox":[0,0,1,1]}"#, "item.zoom"),
            (#"{"bbox":[0,0,1,1],"zoom":1,"window":{"n":[1,2]}}"#, "item.window"),
            (#"{"bbox":[0,0,1,1],"zoom":"1"}"#, "item.zoom"),
            (#"{"bbox":[0,0,1,1],"zoom":1,"limit":1}"#, "item.limit"),
        ]
        for (text, path) in items {
            let id = try watch()
            _ = try item()
            try client.send(#"{"id":\#(id),"item":\#(text)}"#)
            let (status, message) = try failure()
            #expect(status == "INVALID_ARGUMENT" && message.hasPrefix(path), "\(message)")
        }
    }

    @Test("a watch of one revision ends when that revision is replaced") func revision() throws {
        try upsert(Self.point(1, 10, 10))
        _ = try watch(["revision": 7])
        #expect(try failure().status == "ABORTED")
        _ = try watch(["revision": 1])
        #expect(try item()["revision"] == 1)
        try upsert(Self.point(2, 10, 10))
        #expect(try failure().status == "ABORTED")
    }

    @Test("every kind of change is sent", arguments: [false, true]) func changes(isCompressed: Bool) throws {
        _ = try watch(extra: isCompressed ? #","acceptEncoding":"deflate""# : "")
        var replay = MarkerReplay()
        try replay.apply(item())
        let points = GoldenDataset.points(kind: "c", count: 400, seed: 9).map(\.feature)
        _ = try other.importFeatures("s", points)
        try replay.apply(item())
        try upsert(Self.point(1, 99, 9))
        try replay.apply(item())
        _ = try other.call("SourceService/UpdateOptions", ["source": "s", "options": ["radius": 100]])
        try replay.apply(item())
        let answer = try other.call("ClusterService/GetClusters", ["source": "s", "bbox": Self.world, "zoom": 3])
        #expect(replay.features == MarkerReplay.features(of: answer))
    }

    @Test("a client that does not read gets one change for many, and no queue") func slowClient() throws {
        let points = GoldenDataset.points(kind: "u", count: 3000, seed: 2).map(\.feature)
        _ = try other.importFeatures("s", points)
        let id = try watch(["zoom": 20, "maxRateHz": 1000])
        // Each of these moves shows about 300 kB, or nothing: far more than the sockets' buffers hold.
        for _ in 0..<200 {
            try client.send(#"{"id":\#(id),"item":{"bbox":[0,0,1,1],"zoom":20}}"#)
            try client.send(#"{"id":\#(id),"item":{"bbox":[-180,-90,180,90],"zoom":20}}"#)
            _ = try other.call("ServerService/Check")
        }
        let queued = try other.call("ServerService/GetStats")["bytes"]?["queued"]?.number ?? .infinity
        #expect(queued < 2_000_000)
        let last: JSONValue = [-180, -90, 0, 90]
        try client.send(#"{"id":\#(id),"item":{"bbox":\#(last.text),"zoom":20}}"#)
        let answer = try other.call("ClusterService/GetClusters", ["source": "s", "bbox": last, "zoom": 20])
        var (replay, changes) = (MarkerReplay(), 0)
        while replay.features != MarkerReplay.features(of: answer) {
            try replay.apply(item())
            changes += 1
        }
        #expect(changes < 200)
    }

    @Test("viewports beyond the limit of features end, and the others continue") func limitedMemory() throws {
        let daemon = try DaemonProcess(limits: ["maxWatchedFeatures": 100])
        let (client, other) = (try daemon.client(), try daemon.client())
        _ = try other.call("SourceService/CreateSource", ["source": "s"])
        _ = try other.importFeatures("s", GoldenDataset.points(kind: "u", count: 150, seed: 2).map(\.feature))
        let params: JSONValue = ["source": "s", "bbox": Self.world, "zoom": 20, "limit": 60]
        let first = try client.open(Self.method, params)
        #expect(try client.receive()["item"]?["add"]?.array?.count == 60)
        try client.open(Self.method, params)
        #expect(RawClient.status(try client.receive()["error"]).status == "RESOURCE_EXHAUSTED")
        try client.send(#"{"id":\#(first),"item":{"bbox":[0,0,0,0],"zoom":20}}"#)
        #expect(try client.receive()["item"]?["keep"] == 0)
        try client.open(Self.method, params)
        #expect(try client.receive()["item"]?["add"]?.array?.count == 60)
    }

    @Test("replayed changes give the answer of GetClusters, whatever happens in between", arguments: [1, 2])
    func replay(_ seed: UInt32) throws {
        var random = PythonRandom(seed: seed)
        let points = GoldenDataset.points(kind: "d", count: 500, seed: seed)
        _ = try other.importFeatures("s", points.map(\.feature))
        let id = try watch(["maxRateHz": 1000, "include": ["bbox"]])
        var replay = MarkerReplay()
        try replay.apply(item())
        for step in 0..<40 {
            let (x, y, side) = (random.uniform(-180, 180), random.uniform(-80, 80), random.uniform(0, 180))
            let box: JSONValue = [
                .number(x), .number(max(-90, y - side)), .number(x + side), .number(min(90, y + side)),
            ]
            let zoom = JSONValue.number(random.uniform(0, 17))
            if step % 2 == 0 { try upsert(Self.point(step * 7, x, y)) }
            try client.send(#"{"id":\#(id),"item":{"bbox":\#(box.text),"zoom":\#(zoom.text)}}"#)
            let answer = try other.call(
                "ClusterService/GetClusters", ["source": "s", "bbox": box, "zoom": zoom, "include": ["bbox"]])
            let wanted = MarkerReplay.features(of: answer)
            // The previous update arrives with the move, or before it. Otherwise no item would follow.
            while replay.features != wanted { try replay.apply(item()) }
        }
    }
}
