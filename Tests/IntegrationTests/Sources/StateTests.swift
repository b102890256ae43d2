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

@Suite("Sources in a state directory")
struct StateTests {
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
            "clusterProperties": [
                "sum": ["+", ["get", "value"]], "kinds": ["histogram", ["get", "category"]],
            ],
        ]
        _ = try client.call("SourceService/CreateSource", ["source": "a", "options": options])
        _ = try client.importFeatures("a", points.map(\.feature))
        _ = try client.call("SourceService/CreateSource", ["source": "b"])
        _ = try client.importFeatures("b", points.prefix(50).map(\.feature))
        _ = try client.call("SourceService/CreateSource", ["source": "empty"])
        _ = try client.call("SourceService/CreateSource", ["source": "gone"])
        _ = try client.call("SourceService/DeleteSource", ["source": "gone"])
    }

    @Test("after kill -9 all acknowledged data are there")
    func kill() throws {
        let first = try folder.start()
        let client = try first.client()
        try prepare(client)
        _ = try client.call(
            "SourceService/UpdateFeatures",
            [
                "source": "a", "remove": [1, 2, 3],
                "upsert": [
                    [
                        "type": "Feature", "id": 10,
                        "geometry": ["type": "Point", "coordinates": [8.5, 47.4]],
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

    @Test("a source with an overview answers as before from the start on, and takes changes")
    func overview() throws {
        let configuration = NSTemporaryDirectory() + "clusterd-overview-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: configuration) }
        try Data(#"{"limits":{"overviewPoints":100}}"#.utf8).write(to: URL(fileURLWithPath: configuration))
        func start() throws -> DaemonProcess {
            try DaemonProcess(["--state-dir", folder.path, "--config", configuration])
        }
        let first = try start()
        let client = try first.client()
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
        _ = try client.importFeatures("a", points.map(\.feature))
        var before = try answers(client, "a").dropLast()
        _ = first.end(with: SIGKILL)
        for round in 0..<3 {
            // Whether the rest has been read when a call arrives is left to chance.
            let daemon = try start()
            let client = try daemon.client()
            #expect(try answers(client, "a").dropLast() == before)
            if round == 1 {
                _ = try client.call("SourceService/UpdateFeatures", update(id: 7, of: "a"))
                before = try answers(client, "a").dropLast()
            }
            #expect(try client.call("SourceService/GetSource", ["source": "a"])["state"] != "damaged")
            _ = daemon.end(with: SIGKILL)
        }
    }

    @Test("a declared source answers from its overview too, and is filled again if the rest is damaged")
    func declaredOverview() throws {
        let path = NSTemporaryDirectory() + "clusterd-declared-" + UUID().uuidString.prefix(12)
        let (configuration, file) = (path + ".json", path + ".geojsonl")
        defer { for path in [configuration, file] { try? FileManager.default.removeItem(atPath: path) } }
        let lines = points.map(\.feature).joined(separator: "\n")
        try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
        try Data(#"{"limits":{"overviewPoints":100},"sources":{"a":{"file":"\#(file)"}}}"#.utf8)
            .write(to: URL(fileURLWithPath: configuration))
        func filled(_ daemon: DaemonProcess, after revision: Double) throws -> Double {
            while true {
                let source = try daemon.client().call("SourceService/GetSource", ["source": "a"])
                let found = source["revision"]?.number ?? 0
                if found > revision, source["state"] == "ready" { return found }
            }
        }
        var revision = 0.0
        var before: [JSONValue] = []
        for round in 0..<3 {
            let daemon = try DaemonProcess(["--state-dir", folder.path, "--config", configuration])
            if round == 1 {
                let query: JSONValue = ["source": "a", "bbox": [-180, -85, 180, 85], "zoom": 0]
                let world = try daemon.client().call("ClusterService/GetClusters", query)
                #expect(world["features"] == before[0])
            }
            revision = try filled(daemon, after: revision)
            before = try answers(daemon.client(), "a")
            _ = daemon.end(with: SIGKILL)
            guard round == 1 else { continue }
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/sources/a")
            for name in names where name.hasSuffix(".snapshot") {
                // A byte of the index, which comes first.
                let snapshot = try FileHandle(forUpdating: self.folder.file(name, of: "a"))
                try snapshot.seek(toOffset: 100)
                try snapshot.write(contentsOf: [0xa5])
                try snapshot.close()
            }
        }
    }

    @Test("after a kill amid updates, low zooms answer as the data that a complete start reads")
    func overviewOfUpdates() throws {
        func configuration(_ overviewPoints: Int) throws -> String {
            let path = NSTemporaryDirectory() + "clusterd-overview-" + UUID().uuidString.prefix(12)
            try Data(#"{"limits":{"overviewPoints":\#(overviewPoints)}}"#.utf8)
                .write(to: URL(fileURLWithPath: path))
            return path
        }
        let (with, without) = (try configuration(100), try configuration(0))
        defer { for path in [with, without] { try? FileManager.default.removeItem(atPath: path) } }
        var first = 10_000
        for round in 0..<4 {
            let daemon = try DaemonProcess(["--state-dir", folder.path, "--config", with])
            let client = try daemon.client()
            if round == 0 {
                let options: JSONValue = ["clusterProperties": ["count": ["count", ["get", "value"]]]]
                _ = try client.call("SourceService/CreateSource", ["source": "a", "options": options])
                _ = try client.importFeatures("a", points.map(\.feature))
            }
            for _ in 0..<(1 + 7 * round) {
                _ = try client.call("SourceService/UpdateFeatures", update(id: first, of: "a"))
                first += 1
            }
            let before = try answers(client, "a")
            // The overview of the last update may be there, or only one before, or none.
            _ = daemon.end(with: SIGKILL)
            for configuration in [with, without] {
                let daemon = try DaemonProcess(["--state-dir", folder.path, "--config", configuration])
                let found = try answers(daemon.client(), "a")
                // The state is the last, and may be "loading".
                #expect(found.dropLast() == before.dropLast(), "round \(round)")
                _ = daemon.end(with: SIGKILL)
            }
        }
    }

    @Test(
        "after a kill around a snapshot that is written amid updates, low zooms answer as a complete start does"
    )
    func overviewAroundSnapshots() throws {
        let folder = NSTemporaryDirectory() + "clusterd-around-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func start(_ state: String, overviewPoints: Int) throws -> DaemonProcess {
            let path = "\(folder)/config-\(overviewPoints)"
            try Data(#"{"limits":{"overviewPoints":\#(overviewPoints)}}"#.utf8)
                .write(to: URL(fileURLWithPath: path))
            return try DaemonProcess(["--state-dir", state, "--config", path])
        }
        let state = folder + "/state"
        var id = 10_000
        for round in 0..<4 {
            let daemon = try start(state, overviewPoints: 100)
            let client = try daemon.client()
            if round == 0 {
                _ = try client.call("SourceService/CreateSource", ["source": "a"])
                _ = try client.importFeatures("a", points.map(\.feature))
            }
            // Each few of these make the journal long enough for a snapshot.
            for _ in 0..<(4 + 3 * round) {
                _ = try client.call("SourceService/UpdateFeatures", longUpdate(id: id))
                id += 1
            }
            _ = daemon.end(with: SIGKILL)
            var found: [[JSONValue]] = []
            for overviewPoints in [100, 0] {
                // A start may write snapshots, so each begins with the files of the kill.
                let copy = "\(folder)/copy-\(round)-\(overviewPoints)"
                try FileManager.default.copyItem(atPath: state, toPath: copy)
                let daemon = try start(copy, overviewPoints: overviewPoints)
                found.append(try zooms(daemon.client()))
                _ = daemon.end(with: SIGKILL)
            }
            #expect(found[0] == found[1], "round \(round)")
            #expect(found[0].last?["points"]?.number == Double(points.count + id - 10_000))
        }
    }

    /// What the lowest zooms show, and the number of points at last.
    private func zooms(_ client: RawClient) throws -> [JSONValue] {
        var found: [JSONValue] = []
        for zoom in 0..<3 {
            let query: JSONValue = [
                "source": "a", "bbox": [-180, -85, 180, 85], "zoom": .number(Double(zoom)),
            ]
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

    @Test("two daemons cannot share a state directory")
    func lock() throws {
        let daemon = try folder.start()
        let second = try DaemonProcess.run(
            "clusterd", ["--socket", daemon.folder + "/other", "--state-dir", folder.path])
        #expect(second.status == 1)
        #expect(second.errors.contains("process \(daemon.process.processIdentifier)"))
        _ = daemon.end(with: SIGKILL)
        let third = try folder.start()
        #expect(try third.client().call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("a damaged source is reported, and the others answer")
    func damage() throws {
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
        #expect(failure.status == "DATA_LOSS" && failure.message.contains("2.snapshot"))
        let description = try client.call("SourceService/GetSource", ["source": "a"])
        #expect(description["state"] == "damaged" && description["damage"]?.string?.isEmpty == false)
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
        #expect(status == "RESOURCE_EXHAUSTED" && message.contains("nothing has changed"))
        #expect(try answers(client, "s") == before)
        _ = try client.call("SourceService/UpdateFeatures", update(id: 1))
        let after = try answers(client, "s")
        _ = daemon.end(with: SIGKILL)
        let second = try folder.start()
        #expect(try answers(second.client(), "s") == after)
    }

    @Test("features expire while the daemon runs and while it does not")
    func expiry() throws {
        let daemon = try folder.start()
        let client = try daemon.client()
        for (name, seconds) in [("soon", 0.3), ("late", 1e6)] {
            _ = try client.call(
                "SourceService/CreateSource",
                ["source": .string(name), "options": ["ttlSeconds": .number(seconds)]])
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
        _ = try client.call(
            "SourceService/UpdateOptions", ["source": "late", "options": ["ttlSeconds": 0.001]])
        _ = daemon.end(with: SIGKILL)
        let second = try folder.start()
        #expect(try second.client().call("SourceService/GetSource", ["source": "late"])["points"] == 0)
        #expect(try second.client().call("SourceService/GetSource", ["source": "soon"])["points"] == 0)
    }

    @Test("the service manager's state directory is used if no other is given")
    func serviceManager() throws {
        let daemon = try DaemonProcess(environment: ["STATE_DIRECTORY": folder.path])
        _ = try daemon.client().call("SourceService/CreateSource", ["source": "kept"])
        #expect(FileManager.default.fileExists(atPath: folder.file("1.snapshot", of: "kept").path))
    }
}
