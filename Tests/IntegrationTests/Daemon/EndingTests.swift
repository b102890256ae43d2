// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// How calls end that do not simply finish: by a shutdown, in the midst of work, or by their answer's size.
@Suite("Calls that end early") struct EndingTests {
    private static let world: JSONValue = [-180, -90, 180, 90]
    private static let many = GoldenDataset.points(kind: "u", count: 6000, seed: 2).map(\.feature)

    /// Opens an import and sends all of it; its end is left to the caller.
    private func openImport(_ client: RawClient, extra: String = "") throws -> Int64 {
        let id = try client.open("SourceService/ImportFeatures", ["source": "s"], extra: extra)
        for start in stride(from: 0, to: Self.many.count, by: 2000) {
            let items = Self.many[start..<start + 2000].joined(separator: ",")
            try client.send(#"{"id":\#(id),"item":{"features":[\#(items)]}}"#)
        }
        return id
    }

    private func points(_ client: RawClient) throws -> JSONValue? {
        try client.call("SourceService/GetSource", ["source": "s"])["points"]
    }

    @Test("on SIGTERM calls in flight finish, and new ones are UNAVAILABLE") func shutdown() throws {
        let daemon = try DaemonProcess()
        let (importer, other) = (try daemon.client(), try daemon.client())
        _ = try other.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try openImport(importer)
        _ = try importer.open("ServerService/Check")
        #expect(try importer.receive()["result"] == ["status": "SERVING"])
        kill(daemon.process.processIdentifier, SIGTERM)
        // The signal and the calls reach the daemon in an order of their own: the first calls may come before.
        var answers = 0
        while try other.exchange("ServerService/Check")["error"] == nil && answers < 100_000 { answers += 1 }
        #expect(try other.failure("SourceService/ListSources").status == "UNAVAILABLE")
        #expect(throws: RawClient.Failure.self) { try daemon.client() }
        try importer.send(#"{"id":\#(id),"end":true}"#)
        #expect(try importer.receive()["result"]?["accepted"] == 6000)
        #expect(daemon.process.waitForEnd() == 0)
    }

    /// Of two connections one is served by the first loop and one by the second; the loop without calls must
    /// not end the other's.
    @Test("on SIGTERM a call finishes whichever loop serves it", arguments: [0, 1])
    func shutdownOfLoops(_ importing: Int) throws {
        let daemon = try DaemonProcess()
        var clients = [try daemon.client(), try daemon.client()]
        let importer = clients.remove(at: importing)
        _ = try clients[0].call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try openImport(importer)
        _ = try importer.open("ServerService/Check")
        #expect(try importer.receive()["result"] == ["status": "SERVING"])
        clients[0].finishSending()
        #expect(clients[0].isClosed())
        kill(daemon.process.processIdentifier, SIGTERM)
        while (try? daemon.client()) != nil {}
        try importer.send(#"{"id":\#(id),"end":true}"#)
        #expect(try importer.receive()["result"]?["accepted"] == 6000)
        #expect(daemon.process.waitForEnd() == 0)
    }

    @Test("on SIGTERM a filter that takes long stops with the grace time, and the daemon ends with status 0")
    func shutdownWithinFilter() throws {
        let configuration = FileManager.default.temporaryDirectory.appending(path: "clusterd-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: configuration) }
        try Data(#"{"limits":{"shutdownGraceMs":20}}"#.utf8).write(to: configuration)
        let daemon = try DaemonProcess(["--config", configuration.path])
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        _ = try client.importFeatures("s", Self.many)
        // Reads all properties of each feature five hundred times; twice as many would have too many parts.
        let conditions = (0..<500).map { #"["has",["concat","x",["get","n"],"\#($0)"],["properties"]]"# }
        let filter = try JSONReader.parse("[\"any\",\(conditions.joined(separator: ","))]")
        let view = try client.open(
            "ClusterService/GetClusters", ["source": "s", "bbox": Self.world, "zoom": 3, "filter": filter])
        _ = try client.open("ServerService/Check")
        #expect(try client.receive()["result"] == ["status": "SERVING"])
        kill(daemon.process.processIdentifier, SIGTERM)
        let answer = try client.receive()
        #expect(answer["id"] == .number(Double(view)))
        #expect(RawClient.status(answer["error"]).status == "UNAVAILABLE")
        #expect(daemon.process.waitForEnd() == 0)
    }

    @Test("an import cancelled during its build leaves the source unchanged") func cancelledBuild() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try openImport(client)
        // Both at once: the build must not have the time between two writes.
        try client.send(
            RawClient.frame(#"{"id":\#(id),"end":true}"#) + RawClient.frame(#"{"id":\#(id),"cancel":true}"#))
        let message = try client.receive()
        #expect(message["id"] == .number(Double(id)))
        #expect(RawClient.status(message["error"]).status == "CANCELLED")
        #expect(try points(client) == 0)
        #expect(try client.importFeatures("s", Array(Self.many[..<10]))["result"]?["points"] == 10)
    }

    @Test("an answer beyond the limit says how to ask for less") func largeAnswer() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let text = String(repeating: "x", count: 200_000)
        let features = (0..<350).map {
            #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[\#($0 - 175),0]},"properties":{"text":"\#(text)"}}"#
        }
        _ = try client.importFeatures("s", features, batch: 50)
        let all: JSONObject = ["source": "s", "bbox": Self.world, "zoom": 17]
        let failure = try client.failure("ClusterService/GetClusters", .object(all))
        #expect(failure.status == "RESOURCE_EXHAUSTED")
        #expect(failure.message.contains("limit"))
        let watch = try client.failure("ClusterService/WatchClusters", .object(all))
        #expect(watch.status == "RESOURCE_EXHAUSTED")
        #expect(watch.message.contains("limit"))
        var page = all
        page["limit"] = 100
        #expect(try client.call("ClusterService/GetClusters", .object(page))["features"]?.array?.count == 100)
        var names = all
        names["properties"] = []
        #expect(try client.call("ClusterService/GetClusters", .object(names))["features"]?.array?.count == 350)
    }
}
