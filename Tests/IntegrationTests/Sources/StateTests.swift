// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// A state directory that outlives the daemons on it.
private final class StateFolder {
    let path = NSTemporaryDirectory() + "clusterd-state-" + UUID().uuidString.prefix(12)
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func start(fileBlocks: Int? = nil) throws -> DaemonProcess {
        try DaemonProcess(["--state-dir", path], fileBlocks: fileBlocks)
    }

    func file(_ name: String, of source: String) -> URL {
        URL(fileURLWithPath: "\(path)/sources/\(source)/\(name)")
    }
}

@Suite("Sources in a state directory") struct StateTests {
    private let folder = StateFolder()
    private let points = GoldenDataset.points(kind: "c", count: 3000, seed: 9)

    /// Answers about a source, the revision's number apart.
    private func answers(_ client: RawClient, _ source: String) throws -> [JSONValue] {
        var answers: [JSONValue] = []
        for zoom in [0, 3, 7, 12, 17] {
            let query: JSONValue = [
                "source": .string(source), "bbox": [-180, -85, 180, 85], "zoom": .number(Double(zoom)),
            ]
            answers.append(try client.call("ClusterService/GetClusters", query)["features"] ?? .null)
        }
        let description = try client.call("SourceService/GetSource", ["source": .string(source)])
        for member in ["options", "points", "bbox", "createdAt", "updatedAt", "state"] {
            answers.append(description[member] ?? .null)
        }
        return answers
    }

    private func prepare(_ client: RawClient) throws {
        let options: JSONValue = [
            "radius": 50,
            "clusterProperties": ["sum": ["+", ["get", "value"]], "kinds": ["histogram", ["get", "category"]]],
        ]
        _ = try client.call("SourceService/CreateSource", ["source": "a", "options": options])
        _ = try client.importFeatures("a", points.map(\.feature))
        _ = try client.call("SourceService/CreateSource", ["source": "b"])
        _ = try client.importFeatures("b", points.prefix(50).map(\.feature))
        _ = try client.call("SourceService/CreateSource", ["source": "empty"])
        _ = try client.call("SourceService/CreateSource", ["source": "gone"])
        _ = try client.call("SourceService/DeleteSource", ["source": "gone"])
    }

    @Test("after kill -9 all acknowledged data are there") func kill() throws {
        let first = try folder.start()
        let client = try first.client()
        try prepare(client)
        _ = try client.call(
            "SourceService/UpdateFeatures",
            [
                "source": "a", "remove": [1, 2, 3],
                "upsert": [
                    [
                        "type": "Feature", "id": 10, "geometry": ["type": "Point", "coordinates": [8.5, 47.4]],
                        "properties": ["value": 7, "category": "new"],
                    ]
                ],
            ])
        _ = try client.importFeatures("b", points.suffix(20).map(\.feature), mode: "append")
        _ = try client.call("SourceService/UpdateOptions", ["source": "b", "options": ["radius": 77]])
        let before = [try answers(client, "a"), try answers(client, "b"), try answers(client, "empty")]
        #expect(first.end(with: SIGKILL) != 0)

        let second = try folder.start()
        let again = try second.client()
        #expect([try answers(again, "a"), try answers(again, "b"), try answers(again, "empty")] == before)
        #expect(try again.failure("SourceService/GetSource", ["source": "gone"]).status == "NOT_FOUND")
        let query: JSONValue = ["source": "a", "featureId": 3, "zoom": 4]
        #expect(try again.failure("ClusterService/LocateFeature", query).status == "NOT_FOUND")
        #expect(second.end() == 0)
        let third = try folder.start()
        #expect(try answers(third.client(), "b") == before[1])
    }

    /// What the lowest zooms show, and the number of points at last.
    private func zooms(_ client: RawClient) throws -> [JSONValue] {
        var found: [JSONValue] = []
        for zoom in 0..<3 {
            let query: JSONValue = ["source": "a", "bbox": [-180, -85, 180, 85], "zoom": .number(Double(zoom))]
            found.append(try client.call("ClusterService/GetClusters", query)["features"] ?? .null)
        }
        let description = try client.call("SourceService/GetSource", ["source": "a"])
        return found + [["points": description["points"] ?? .null]]
    }

    /// An update that adds a feature of 300 KB.
    private func longUpdate(id: Int) -> JSONValue {
        [
            "source": "a",
            "upsert": [
                [
                    "type": "Feature", "id": .number(Double(id)),
                    "geometry": ["type": "Point", "coordinates": [.number(Double(id % 90)), 2]],
                    "properties": ["text": .string(String(repeating: "x", count: 300_000))],
                ]
            ],
        ]
    }

    @Test("a kill at any moment leaves a prefix of the updates that holds all acknowledged ones")
    func killWhileUpdating() throws {
        var expected = 50
        for round in 0..<4 {
            let daemon = try folder.start()
            let client = try daemon.client()
            if round == 0 {
                _ = try client.call("SourceService/CreateSource", ["source": "s"])
                _ = try client.importFeatures("s", points.prefix(50).map(\.feature))
            }
            let description = try client.call("SourceService/GetSource", ["source": "s"])
            // What was under way when the daemon was killed may have been kept or not.
            let found = Int(description["points"]?.number ?? 0)
            #expect(found == expected || found == expected + 1)
            expected = found
            for _ in 0..<round * 5 {
                _ = try client.call("SourceService/UpdateFeatures", update(id: 10_000 + expected))
                expected += 1
            }
            _ = try client.open("SourceService/UpdateFeatures", update(id: 10_000 + expected))
            _ = daemon.end(with: SIGKILL)
        }
    }

    @Test("a large source answers from its first call on, through kills amid updates, and takes changes")
    func large() throws {
        let first = try folder.start()
        let client = try first.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        // A snapshot that is read on demand.
        let many = (0..<40_000).map { number in
            let (x, y) = (Double(number % 400) / 10, Double(number / 400) / 2)
            return
                #"{"type":"Feature","id":\#(number),"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]},"properties":{"name":"place \#(number)"}}"#
        }
        _ = try client.importFeatures("s", many)
        _ = try client.call("SourceService/UpdateFeatures", update(id: 7))
        var before = try answers(client, "s")
        _ = first.end(with: SIGKILL)
        for round in 0..<3 {
            let daemon = try folder.start()
            let client = try daemon.client()
            #expect(try answers(client, "s") == before, "round \(round)")
            _ = try client.call("SourceService/UpdateFeatures", update(id: 8 + round))
            before = try answers(client, "s")
            _ = daemon.end(with: SIGKILL)
        }
    }

    private func update(id: Int, of source: String = "s") -> JSONValue {
        [
            "source": .string(source),
            "upsert": [
                [
                    "type": "Feature", "id": .number(Double(id)),
                    "geometry": ["type": "Point", "coordinates": [1, 2]], "properties": .null,
                ]
            ],
        ]
    }

    @Test("two daemons cannot share a state directory") func lock() throws {
        let daemon = try folder.start()
        let second = try DaemonProcess.run(
            "clusterd", ["--socket", daemon.folder + "/other", "--state-dir", folder.path])
        #expect(second.status == 1)
        #expect(second.errors.contains("process \(daemon.process.processIdentifier)"))
        _ = daemon.end(with: SIGKILL)
        let third = try folder.start()
        #expect(try third.client().call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("a damaged source is reported, and the others answer") func damage() throws {
        let daemon = try folder.start()
        try prepare(try daemon.client())
        let before = try answers(try daemon.client(), "b")
        _ = daemon.end()
        let file = folder.file("2.snapshot", of: "a")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        try FileManager.default.removeItem(at: folder.file("1.snapshot", of: "a"))
        let second = try folder.start()
        let client = try second.client()
        let query: JSONValue = ["source": "a", "bbox": [-180, -85, 180, 85], "zoom": 17]
        let failure = try client.failure("ClusterService/GetClusters", query)
        #expect(failure.status == "DATA_LOSS")
        #expect(failure.message.contains("2.snapshot"))
        let description = try client.call("SourceService/GetSource", ["source": "a"])
        #expect(description["state"] == "damaged")
        #expect(description["damage"]?.string?.isEmpty == false)
        #expect(try answers(client, "b") == before)
        #expect(second.errorText().contains("2.snapshot"))
        #expect(try client.call("SourceService/DeleteSource", ["source": "a"]) == [:])
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
    }

    @Test(
        "when the disk is full, the call fails and nothing changes",
        .disabled(if: Sanitizer.isOfThreads, "no program starts that may only write small files"))
    func fullDisk() throws {
        // 250 KB: room for the small source's snapshot, none for the large one's.
        let daemon = try folder.start(fileBlocks: 500)
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        _ = try client.importFeatures("s", points.prefix(500).map(\.feature))
        let before = try answers(client, "s")
        let refused = try client.importFeatures("s", points.map(\.feature))
        let (status, message) = RawClient.status(refused["error"])
        #expect(status == "RESOURCE_EXHAUSTED")
        #expect(message.contains("nothing has changed"))
        #expect(try answers(client, "s") == before)
        _ = try client.call("SourceService/UpdateFeatures", update(id: 1))
        let after = try answers(client, "s")
        _ = daemon.end(with: SIGKILL)
        let second = try folder.start()
        #expect(try answers(second.client(), "s") == after)
    }

    @Test("features expire while the daemon runs and while it does not") func expiry() throws {
        let daemon = try folder.start()
        let client = try daemon.client()
        for (name, seconds) in [("soon", 0.3), ("late", 1e6)] {
            _ = try client.call(
                "SourceService/CreateSource", ["source": .string(name), "options": ["ttlSeconds": .number(seconds)]])
            _ = try client.importFeatures(name, points.prefix(30).map(\.feature))
        }
        // A watching client is notified when they are removed.
        let watch: JSONValue = ["source": "soon", "bbox": [-180, -85, 180, 85], "zoom": 0]
        let watched = try daemon.client()
        _ = try watched.open("ClusterService/WatchClusters", watch)
        var shown = 0.0
        repeat {
            guard let item = try watched.receive()["item"] else { break }
            shown += Double((item["add"]?.array?.count ?? 0) - (item["remove"]?.array?.count ?? 0))
        } while shown > 0
        #expect(try client.call("SourceService/GetSource", ["source": "soon"])["points"] == 0)
        _ = try client.call("SourceService/UpdateOptions", ["source": "late", "options": ["ttlSeconds": 0.001]])
        _ = daemon.end(with: SIGKILL)
        let second = try folder.start()
        #expect(try second.client().call("SourceService/GetSource", ["source": "late"])["points"] == 0)
        #expect(try second.client().call("SourceService/GetSource", ["source": "soon"])["points"] == 0)
    }

    @Test("the service manager's state directory is used if no other is given") func serviceManager() throws {
        let daemon = try DaemonProcess(environment: ["STATE_DIRECTORY": folder.path])
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "kept"])
        #expect(FileManager.default.fileExists(atPath: folder.file("1.snapshot", of: "kept").path))
    }
}
