// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Rows of the contract's table that are about limits and about what a good message says.
@Suite("What bad input gets: limits and contents") struct BadContentTests {
    let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    @Test("of equal keys, the last one counts") func equalKeys() throws {
        let client = try daemon.client()
        try client.send(
            #"{"id":9,"method":"nothing","id":4,"method":"clusterd.v1.ServerService/Check","params":{"a":1},"params":{}}"#
        )
        let message = try client.receive()
        #expect(message["id"] == 4)
        #expect(message["result"] == ["status": "SERVING"])
        try client.send(
            #"{"id":5,"method":"clusterd.v1.SourceService/GetSource","params":{"source":7,"source":"nowhere"}}"#
        )
        #expect(RawClient.status(try client.receive()["error"]).status == "NOT_FOUND")
    }

    @Test(
        "NUL and other odd characters in names name nothing",
        arguments: [#"a\u0000b"#, #"\u0000"#, "", " ", "..", "a/b", "ä", #"s\n"#])
    func names(_ name: String) throws {
        let client = try daemon.client()
        for method in ["CreateSource", "GetSource", "DeleteSource"] {
            let options = method == "CreateSource" ? #","options":{}"# : ""
            try client.send(
                #"{"id":1,"method":"clusterd.v1.SourceService/\#(method)","params":{"source":"\#(name)"\#(options)}}"#
            )
            let error = RawClient.status(try client.receive()["error"])
            #expect(error.status == "INVALID_ARGUMENT")
            #expect(error.message.contains("params.source"))
        }
        try client.send(#"{"id":1,"method":"clusterd.v1.ServerService/Check\u0000"}"#)
        #expect(RawClient.status(try client.receive()["error"]).status == "UNIMPLEMENTED")
    }

    @Test("a param's path includes the element") func paths() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        func message(_ box: JSONValue, _ zoom: JSONValue = 0) throws -> String {
            let params: JSONValue = ["source": "s", "bbox": box, "zoom": zoom]
            let failure = try client.failure("ClusterService/GetClusters", params)
            #expect(failure.status == "INVALID_ARGUMENT")
            return failure.message
        }
        #expect(try message([0, 0, "x", 0]).hasPrefix("params.bbox[2]"))
        #expect(try message([0, 0, 0]).hasPrefix("params.bbox"))
        #expect(try message([0, 0, 1, 1], "x").hasPrefix("params.zoom"))
        let missing = try client.failure("ClusterService/GetChildren", ["source": "s", "clusterId": 1099511627776])
        #expect(missing.status == "NOT_FOUND")
    }

    @Test("an invalid feature of an update is named by its path among the params, and nothing changes")
    func updatePaths() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "u", "options": [:]])
        let good: JSONValue = [
            "type": "Feature", "id": 1, "geometry": ["type": "Point", "coordinates": [1, 2]], "properties": [:],
        ]
        let nameless: JSONValue = [
            "type": "Feature", "geometry": ["type": "Point", "coordinates": [1, 2]], "properties": [:],
        ]
        for bad in [nameless, [:], 7] {
            let reply = try client.exchange("SourceService/UpdateFeatures", ["source": "u", "upsert": [good, bad]])
            #expect(RawClient.status(reply["error"]).status == "INVALID_ARGUMENT")
            #expect(RawClient.status(reply["error"]).message.hasPrefix("params.upsert[1]"))
            #expect(reply["error"]?["details"]?["param"] == "params.upsert[1]")
            #expect(reply["error"]?["details"]?["index"] == 1)
        }
        #expect(try client.call("SourceService/GetSource", ["source": "u"])["points"] == 0)
    }

    @Test("options must be an object: null is rejected") func nullOptions() throws {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "o", "options": ["radius": 60]])
        let failure = try client.failure("SourceService/UpdateOptions", ["source": "o", "options": .null])
        #expect(failure.status == "INVALID_ARGUMENT")
        #expect(failure.message.hasPrefix("params.options"))
        let options = try client.call("SourceService/GetSource", ["source": "o"])["options"]
        #expect(options?["radius"] == 60)
    }

    @Test("huge finite numbers are valid, and out of range as an id or a count") func numbers() throws {
        let client = try daemon.client()
        for number in ["1e308", "-1e308", "123456789012345678901234567890", "1e-400", "0.5", "-0"] {
            try client.send(#"{"id":1,"method":"clusterd.v1.ServerService/Check","timeoutMs":\#(number)}"#)
            let message = try client.receive()
            let expected = number == "1e-400" || number == "-0" ? "DEADLINE_EXCEEDED" : "INVALID_ARGUMENT"
            #expect(RawClient.status(message["error"]).status == expected, "\(number)")
        }
    }

    @Test("too many connections: an error, then the end; the others are unaffected")
    func connections() throws {
        let daemon = try DaemonProcess(limits: ["maxConnections": 3])
        let clients = try (0..<3).map { _ in try daemon.client() }
        for client in clients { _ = try client.call("ServerService/Check") }
        let refused = try daemon.client()
        let message = try refused.receive()
        #expect(message["id"] == .null)
        #expect(RawClient.status(message["error"]).status == "RESOURCE_EXHAUSTED")
        #expect(refused.isClosed())
        for client in clients { #expect(try client.call("ServerService/Check") == ["status": "SERVING"]) }
    }

    @Test(
        "too many calls in flight, of a connection and of all",
        arguments: [["maxCallsPerConnection": 2], ["maxCalls": 2]])
    func calls(_ limits: [String: Int]) throws {
        let daemon = try DaemonProcess(limits: limits)
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let ids = try (0..<2).map { _ in try client.open("SourceService/ImportFeatures", ["source": "s"]) }
        #expect(try client.failure("ServerService/Check").status == "RESOURCE_EXHAUSTED")
        let other = try daemon.client()
        let message = try other.exchange("ServerService/Check")
        #expect((message["result"] == nil) == (limits["maxCalls"] != nil))
        for id in ids {
            try client.send(#"{"id":\#(id),"end":true}"#)
            #expect(try client.receive()["result"]?["accepted"] == 0)
        }
        #expect(try client.call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("bytes of incomplete messages are bounded over all connections") func unfinishedMessages() throws {
        let daemon = try DaemonProcess(limits: ["maxInputBytes": 4 << 20])
        let clients = try (0..<3).map { _ in try daemon.client() }
        let start = [0, 0, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0x20, count: 2 << 20)
        for client in clients {
            do { try client.send(start) } catch {}
        }
        // Which of them brings the sum over the limit is up to the loops that read them.
        let refused = try #require(RawClient.firstToHear(of: clients))
        let message = try refused.receive()
        #expect(message["id"] == .null)
        #expect(RawClient.status(message["error"]).status == "RESOURCE_EXHAUSTED")
        #expect(refused.isClosed())
        #expect(try daemon.client().call("ServerService/Check") == ["status": "SERVING"])
    }
}
