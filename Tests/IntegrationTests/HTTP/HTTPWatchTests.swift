// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Watches by WebSocket and as server-sent events.
@Suite("HTTP watches") struct HTTPWatchTests {
    let daemon: DaemonProcess
    let socket: RawClient
    let http: HTTPClient
    private static let target = "/sources/s/watch?bbox=-180,-90,180,90&zoom=3"

    init() throws {
        daemon = try DaemonProcess(http: "\"right\":\"manage\"")
        socket = try daemon.client()
        http = try daemon.http()
        _ = try socket.call("SourceService/CreateSource", ["source": "s"])
    }

    private func upsert(_ id: Int, _ x: Double, _ y: Double) throws {
        let feature: JSONValue = [
            "type": "Feature", "id": .number(Double(id)), "properties": [:],
            "geometry": ["type": "Point", "coordinates": [.number(x), .number(y)]],
        ]
        _ = try socket.call("SourceService/UpdateFeatures", ["source": "s", "upsert": .array([feature])])
    }

    @Test("a WebSocket carries both directions") func aWebSocketCarriesBothDirections() throws {
        let response = try http.openWebSocket(Self.target)
        #expect(response.status == 101)
        #expect(response["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(try http.receiveText() == #"{"add":[],"remove":[],"keep":0,"revision":0}"#)
        try upsert(1, 10, 10)
        #expect(try JSONReader.parse(try http.receiveText())["add"]?.array?.count == 1)
        try http.sendText(#"{"bbox":[20,20,30,30],"zoom":3}"#)
        #expect(try JSONReader.parse(try http.receiveText())["remove"]?.array?.count == 1)
        try http.send(HTTPClient.frame(9, Array("ping".utf8)))
        let pong = try http.receiveFrame()
        #expect(pong.opcode == 10)
        #expect(pong.payload == Array("ping".utf8))
        try http.send(HTTPClient.frame(8, [0x03, 0xE8]))
        #expect(try http.receiveClose().code == 1000)
        #expect(try http.isClosed())
    }

    @Test("bytes after the handshake belong to the WebSocket") func bytesBehindTheHandshakeAreTheWebSockets() throws {
        let handshake = http.request(
            "GET", Self.target,
            [
                "Upgrade: WebSocket", "Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ])
        try http.send(handshake + HTTPClient.frame(9, [1]))
        #expect(try http.receive().status == 101)
        var opcodes: [UInt8] = []
        for _ in 0..<2 { opcodes.append(try http.receiveFrame().opcode) }
        #expect(Set(opcodes) == [1, 10])
    }

    @Test(
        "invalid items close the connection with the reason",
        arguments: [
            (#"{"bbox":[1,2],"zoom":3}"#, 1008, "item.bbox"), ("nonsense", 1008, "item"),
            (#"{"zoom":3}"#, 1008, "item.bbox"),
            (#"{"bbox":[0,0,1,1],"zoom":1,"q":1}"#, 1008, "item.q"),
        ])
    func badItemsCloseWithTheReason(_ item: String, _ code: Int, _ reason: String) throws {
        #expect(try http.openWebSocket(Self.target).status == 101)
        try http.sendText(item)
        let close = try http.receiveClose()
        #expect(close.code == code && close.reason.contains(reason), "\(close)")
        #expect(try http.isClosed())
    }

    @Test("invalid frames close only their connection") func badFramesCloseTheirConnectionOnly() throws {
        let honest = try daemon.http()
        #expect(try honest.openWebSocket(Self.target).status == 101)
        _ = try honest.receiveText()
        for (bytes, code) in [
            ([0x81, 0x01, 0x61], 1002), (HTTPClient.frame(2, [1]), 1003), (HTTPClient.frame(1, [0xFF]), 1007),
            ([0xFF, 0x80, 0, 0, 0, 0], 1002), ([0x81, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x61], 1009),
            // The declared length is enough: nothing of the message has come.
            ([0x81, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0], 1009),
        ] as [([UInt8], Int)] {
            let bad = try daemon.http()
            #expect(try bad.openWebSocket(Self.target).status == 101)
            try bad.send(bytes)
            #expect(try bad.receiveClose().code == code, "\(bytes)")
            #expect(try bad.isClosed())
        }
        try upsert(1, 10, 10)
        #expect(try JSONReader.parse(try honest.receiveText())["add"]?.array?.count == 1)
    }

    @Test("the end of a source and of the daemon are reported") func theEndOfASourceAndOfTheDaemonAreTold() throws {
        #expect(try http.openWebSocket(Self.target).status == 101)
        let other = try daemon.http()
        _ = try socket.call("SourceService/CreateSource", ["source": "t"])
        #expect(try other.openWebSocket("/sources/t/watch?bbox=0,0,1,1&zoom=1").status == 101)
        _ = try socket.call("SourceService/DeleteSource", ["source": "s"])
        #expect(try http.receiveClose().code == 4005)
        #expect(daemon.end() == 0)
        #expect(try other.receiveClose().code == 1001)
    }

    @Test("errors before the upgrade are statuses") func errorsBeforeTheUpgradeAreStatuses() throws {
        #expect(try http.openWebSocket("/sources/none/watch?bbox=0,0,1,1&zoom=1").status == 404)
        #expect(try http.openWebSocket("/sources/s/watch?zoom=x&bbox=0,0,1,1").status == 400)
        #expect(try http.openWebSocket("/sources/s/watch?bbox=0,0,1,1&zoom=1&filter=%5B%22no%22%5D").status == 400)
        let version = try http.exchange(
            "GET", Self.target,
            ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 7", "Sec-WebSocket-Key: x"])
        #expect(version.status == 426)
        #expect(version["sec-websocket-version"] == "13")
        // A message with the field Upgrade must name it in Connection (RFC 9110, section 7.8).
        #expect(version["connection"] == "Upgrade")
        #expect(version["upgrade"] == "websocket")
        #expect(try http.get(Self.target).status == 426)
        // The connection goes on after all of these.
        #expect(try http.get("/health").status == 200)
    }

    @Test("a watch without a box watches the world, as clusters shows it")
    func aWatchWithoutABoxWatchesTheWorld() throws {
        try upsert(1, 170, -80)
        #expect(try http.openWebSocket("/sources/s/watch?zoom=3").status == 101)
        #expect(try http.receiveText().contains("\"add\":[{"))
        let events = try daemon.http()
        try events.send(events.request("GET", "/sources/s/watch?zoom=3", ["Accept: text/event-stream"]))
        #expect(try events.receiveHead().status == 200)
        let chunk = try #require(try events.takeChunk())
        #expect(String(decoding: chunk, as: UTF8.self).contains("\"add\":[{"))
    }

    @Test("events are streamed") func eventsAreStreamed() throws {
        try http.send(http.request("GET", Self.target, ["Accept: text/event-stream"]))
        let head = try http.receiveHead()
        #expect(head.status == 200)
        #expect(head.fields.contains { $0.name == "content-type" && $0.value == "text/event-stream" })
        func event() throws -> [String] {
            let chunk = try #require(try http.takeChunk())
            return String(decoding: chunk, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false
            ).map(String.init)
        }
        let first = try event()
        #expect(first == ["event: change", "id: 0", #"data: {"add":[],"remove":[],"keep":0,"revision":0}"#, "", ""])
        try upsert(1, 10, 10)
        let second = try event()
        let data = try JSONReader.parse(String(second[2].dropFirst("data: ".count)))
        #expect(data["add"]?.array?.count == 1)
        #expect(second[1] == "id: \(Int(data["revision"]?.number ?? 0))")
        _ = try socket.call("SourceService/DeleteSource", ["source": "s"])
        let last = try event()
        #expect(last[0] == "event: error" && last[1].contains("\"not_found\""))
        #expect(try http.takeChunk() == nil)
        #expect(try http.isClosed())
    }

    @Test("an event is one line of data, whatever line breaks features were sent with")
    func anEventIsOneLineOfData() throws {
        let lines = "{\r\n  \"a\":\n [1,\r 2]}"
        try socket.send(
            #"{"id":900,"method":"clusterd.v1.SourceService/UpdateFeatures","params":{"source":"s","upsert":[{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[10,10]},"properties":\#(lines)}]}}"#
        )
        #expect(try socket.receive()["result"] != nil)
        try http.send(http.request("GET", Self.target, ["Accept: text/event-stream"]))
        _ = try http.receiveHead()
        let event = String(decoding: try #require(try http.takeChunk()), as: UTF8.self)
        #expect(!event.contains("\r"))
        #expect(event.split(separator: "\n").count == 3)
        let data = try JSONReader.parse(String(event.split(separator: "\n")[2].dropFirst("data: ".count)))
        #expect(data["add"]?.array?.first?["properties"] == ["a": [1, 2]])
        // The command prints an object a line, too.
        let watched = try DaemonProcess.run(
            "clusterctl", ["--socket", daemon.socketPath, "watch", "s", "--zoom", "17", "--count", "1"])
        #expect(watched.status == 0)
        #expect(watched.output.split(separator: "\n").count == 1)
        #expect(try JSONReader.parse(watched.output)["add"]?.array?.count == 1)
    }

    @Test("a client that disconnects ends its watch") func aClientThatGoesEndsItsWatch() throws {
        for number in 1...3 {
            let client = try daemon.http()
            #expect(try client.openWebSocket(Self.target).status == 101)
            _ = try client.receiveText()
            _ = number
        }
        while true {
            let metrics = try http.get("/metrics").text
            if metrics.contains("clusterd_http_watches{form=\"webSocket\"} 0\n"),
                metrics.contains("clusterd_calls_in_flight 0\n")
            {
                break
            }
        }
    }
}
