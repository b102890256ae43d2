// SPDX-License-Identifier: MIT
import Compression
import Foundation
import JSON
import TestSupport
import Testing

@Suite("What bad input gets") struct BadInputTests {
    let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    private static let check = #"{"id":1,"method":"clusterd.v1.ServerService/Check"}"#

    /// Sends bytes that end the connection; the one error that comes before.
    private func fatal(_ bytes: [UInt8]) throws -> (status: String, message: String) {
        let bystander = try daemon.client()
        let client = try daemon.client()
        try client.send(bytes)
        let message = try client.receive()
        #expect(message["id"] == .null)
        #expect(client.isClosed())
        #expect(try bystander.call("ServerService/Check") == ["status": "SERVING"])
        return RawClient.status(message["error"])
    }

    @Test("a frame's flag beyond 1", arguments: [2, 3, 127, 128, 255] as [UInt8]) func flag(_ flag: UInt8) throws {
        #expect(try fatal(RawClient.frame(Self.check, flag: flag)).status == "INVALID_ARGUMENT")
    }

    @Test("a length over the limit", arguments: [(16 << 20) + 1, 1 << 30, Int(UInt32.max)])
    func length(_ length: Int) throws {
        let prefix = [0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        #expect(try fatal(prefix).status == "RESOURCE_EXHAUSTED")
    }

    @Test("a client that sends an oversized message reads the reason, then the end") func sentWhole() throws {
        let tooLong = [UInt8](repeating: 0x20, count: (16 << 20) + 1)
        #expect(try fatal(RawClient.frame(tooLong)).status == "RESOURCE_EXHAUSTED")
        #expect(try fatal(RawClient.frame(tooLong, flag: 3)).status == "INVALID_ARGUMENT")
    }

    @Test("after a frame that ends the connection its calls are over, and its client has time to read")
    func callsOfAFailedConnection() throws {
        let (client, other) = (try daemon.client(), try daemon.client())
        _ = try other.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        _ = try client.open("SourceService/ImportFeatures", ["source": "s"])
        try client.send([9, 0, 0, 0, 0])
        #expect(try client.receive()["id"] == .null)
        #expect(client.isClosed())
        #expect(try other.call("ServerService/GetStats")["calls"]?["inFlight"] == 0)
        #expect(daemon.end() == 0)
    }

    @Test("a compressed frame that does not inflate, or to too much") func compression() throws {
        #expect(try fatal(RawClient.frame(Self.check, flag: 1)).status == "INVALID_ARGUMENT")
        let bomb = try Zlib.deflate([UInt8](repeating: 0x20, count: (16 << 20) + 1), level: 9)
        #expect(try fatal(RawClient.frame(bomb, flag: 1)).status == "RESOURCE_EXHAUSTED")
        let cut = try Array(Zlib.deflate(Array(Self.check.utf8)).dropLast(3))
        #expect(try fatal(RawClient.frame(cut, flag: 1)).status == "INVALID_ARGUMENT")
    }

    @Test("a valid compressed frame is accepted, and answers are compressed if requested and worthwhile")
    func goodCompression() throws {
        let client = try daemon.client()
        let request = #"{"id":1,"method":"clusterd.v1.ServerService/GetServerInfo","acceptEncoding":"deflate"}"#
        try client.send(RawClient.frame(Zlib.deflate(Array(request.utf8)), flag: 1))
        let (message, isCompressed) = try client.receiveFrame()
        #expect(isCompressed)
        #expect(message["result"]?["name"] == .string("clusterd"))
        try client.send(#"{"id":2,"method":"clusterd.v1.ServerService/Check","acceptEncoding":"deflate"}"#)
        #expect(try !client.receiveFrame().isCompressed)
    }

    @Test(
        "a message that is not a JSON object or has no usable id is an error without an id, and the connection stays open",
        arguments: [
            "", " ", "x", "[]", "1", "null", "\"a\"", "{", #"{"id":1"#, "{}", #"{"id":0,"method":"m"}"#,
            #"{"id":-1,"method":"m"}"#, #"{"id":1.5,"method":"m"}"#, #"{"id":"1","method":"m"}"#,
            #"{"id":null}"#,
            #"{"id":9007199254740992,"method":"m"}"#, #"{"id":1e300,"method":"m"}"#,
            #"{"id":1e999,"method":"m"}"#, #"{"method":"m","params":{"x":1e999}}"#,
            #"{"id":1,"method":"m","params":{"x":"\ud800"}}"#,
            #"{"id":1,"method":"m","params":\#(String(repeating: "[", count: 65))}"#,
        ])
    func unusable(_ text: String) throws {
        let client = try daemon.client()
        try client.send(text)
        let message = try client.receive()
        #expect(message["id"] == .null)
        #expect(RawClient.status(message["error"]).status == "INVALID_ARGUMENT")
        try client.send(Self.check)
        #expect(try client.receive()["result"] == ["status": "SERVING"])
    }

    @Test(
        "a message with too deep nesting or too large numbers is answered under its id",
        arguments: [
            #"{"id":7,"method":"m","params":{"x":1e999}}"#,
            #"{"params":{"id":3,"x":[-1e999,"\"}{"]}, "method":"m" , "id" : 7 }"#,
            #"{"id":7,"method":"m","params":\#(String(repeating: "[", count: 65) + String(repeating: "]", count: 65))}"#,
        ])
    func refused(_ text: String) throws {
        let client = try daemon.client()
        try client.send(text)
        let message = try client.receive()
        #expect(message["id"] == 7)
        #expect(RawClient.status(message["error"]).status == "INVALID_ARGUMENT")
        try client.send(Self.check)
        #expect(try client.receive()["result"] == ["status": "SERVING"])
    }

    @Test("bytes that are not UTF-8") func encoding() throws {
        let client = try daemon.client()
        try client.send(RawClient.frame([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]))
        #expect(RawClient.status(try client.receive()["error"]).status == "INVALID_ARGUMENT")
        try client.send(Self.check)
        #expect(try client.receive()["result"] == ["status": "SERVING"])
    }

    @Test("frames split anywhere, one byte at a time, and thousands in one write") func cuts() throws {
        let client = try daemon.client()
        let bytes = RawClient.frame(Self.check)
        for byte in bytes { try client.send([byte]) }
        #expect(try client.receive()["result"] == ["status": "SERVING"])
        for cut in 1..<bytes.count {
            try client.send(Array(bytes[..<cut]))
            try client.send(Array(bytes[cut...]))
            #expect(try client.receive()["result"] == ["status": "SERVING"])
        }
        var many: [UInt8] = []
        for id in 1...3000 {
            many += RawClient.frame(#"{"id":\#(id),"method":"clusterd.v1.ServerService/Check"}"#)
        }
        try client.send(many)
        var ids = Set<Double>()
        for _ in 1...3000 {
            let message = try client.receive()
            ids.insert(message["id"]?.number ?? 0)
            #expect(message["result"] != nil)
        }
        #expect(ids.count == 3000)
    }

    @Test("an id already in use") func idInUse() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try client.open("SourceService/ImportFeatures", ["source": "s"])
        try client.send(#"{"id":\#(id),"method":"clusterd.v1.ServerService/Check"}"#)
        let message = try client.receive()
        #expect(message["id"] == .number(Double(id)))
        #expect(RawClient.status(message["error"]).status == "INVALID_ARGUMENT")
        try client.send(#"{"id":\#(id),"end":true}"#)
        #expect(try client.receive()["result"]?["accepted"] == .number(0))
        try client.send(#"{"id":\#(id),"method":"clusterd.v1.ServerService/Check"}"#)
        #expect(try client.receive()["result"] == ["status": "SERVING"])
    }

    @Test("unknown methods, params and sources") func unknown() throws {
        let client = try daemon.client()
        #expect(try client.failure("ClusterService/Nothing").status == "UNIMPLEMENTED")
        #expect(try client.failure("ServerService/Check", ["verbose": true]).message.contains("params.verbose"))
        #expect(try client.failure("SourceService/GetSource", ["source": "nowhere"]).status == "NOT_FOUND")
        #expect(try client.failure("SourceService/GetSource", [:]).message.contains("params.source"))
        #expect(try client.failure("SourceService/GetSource", ["source": 7]).message.contains("params.source"))
    }

    @Test("items for calls that take none, and messages that come too late") func strayMessages() throws {
        let client = try daemon.client()
        try client.send(#"{"id":5,"item":{}}"#)
        try client.send(#"{"id":5,"end":true}"#)
        try client.send(#"{"id":5,"cancel":true}"#)
        #expect(try client.call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("a cancelled call ends with CANCELLED, and leaves nothing behind") func cancel() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try client.open("SourceService/ImportFeatures", ["source": "s"])
        try client.send(
            #"{"id":\#(id),"item":{"features":[\#(GoldenDataset.points(kind: "u", count: 1, seed: 1)[0].feature)]}}"#
        )
        try client.send(#"{"id":\#(id),"cancel":true}"#)
        #expect(RawClient.status(try client.receive()["error"]).status == "CANCELLED")
        #expect(try client.call("SourceService/GetSource", ["source": "s"])["points"] == .number(0))
    }

    @Test("a deadline that passes") func deadline() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try client.open("SourceService/ImportFeatures", ["source": "s"], extra: #","timeoutMs":30"#)
        let message = try client.receive()
        #expect(message["id"] == .number(Double(id)))
        #expect(RawClient.status(message["error"]).status == "DEADLINE_EXCEEDED")
        #expect(
            RawClient.status(try client.exchange("ServerService/Check", extra: #","timeoutMs":0"#)["error"])
                .status == "DEADLINE_EXCEEDED")
    }

    @Test("closed connections leave no descriptor behind") func descriptors() throws {
        let client = try daemon.client()
        _ = try client.call("ServerService/Check")
        // Each loop keeps a descriptor in reserve from its first connection on; many connections reach all loops.
        for other in try (0..<50).map({ _ in try daemon.client() }) {
            _ = try other.call("ServerService/Check")
        }
        let before = daemon.openDescriptors
        for _ in 0..<50 { _ = try daemon.client().call("ServerService/Check") }
        var clients: [RawClient] = []
        for _ in 0..<50 { clients.append(try daemon.client()) }
        for other in clients { try other.send([0, 0, 0]) }
        clients = []
        // Every close reaches the daemon before the answer to what was sent after it.
        for _ in 0..<100 where daemon.openDescriptors > before { _ = try client.call("ServerService/Check") }
        #expect(daemon.openDescriptors <= before)
    }
}
