// SPDX-License-Identifier: MIT
import Compression
import Foundation
import JSON
import TestSupport
import Testing

/// What surrounds the daemon: signals, a log that nobody reads, users' shares, and how it ends.
@Suite("The daemon's surroundings")
struct RobustnessTests {
    @Test("stray signals have no effect")
    func straySignals() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        for signal in [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE, SIGCHLD, SIGWINCH, 40] {
            kill(daemon.process.processIdentifier, signal)
            #expect(try client.call("ServerService/Check") == ["status": "SERVING"], "signal \(signal)")
        }
        #expect(daemon.end() == 0)
    }

    @Test("clients are notified of the shutdown, and calls get UNAVAILABLE until the connection ends")
    func goaway() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        client.keepsNotices = true
        _ = try client.call("ServerService/Check")
        kill(daemon.process.processIdentifier, SIGTERM)
        let notice = try client.receive()
        #expect(notice["id"] == .null)
        #expect(notice["goaway"]?["message"]?.string?.isEmpty == false)
        // A call that the daemon has taken is answered; one that it takes no more fails with its sending.
        while (try? client.open("ServerService/Check")) != nil {
            guard let answer = try? client.receive() else { break }
            #expect(RawClient.status(answer["error"]).status == "UNAVAILABLE")
        }
        #expect(daemon.process.waitForEnd() == 0)
    }

    @Test("denied calls and calls that change sources are logged with caller, method, source and size")
    func audit() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        let feature =
            #"{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[1,2]},"properties":{"secret":1}}"#
        _ = try client.importFeatures("s", [feature])
        _ = try client.call("SourceService/GetSource", ["source": "s"])
        #expect(daemon.end() == 0)
        let lines = daemon.errorText().split(separator: "\n").filter { $0.contains("a call changed a source") }
        #expect(lines.count == 2)
        #expect(
            lines.last?.contains("uid=\(geteuid()) pid=\(getpid()) method=\"SourceService/ImportFeatures\"") == true)
        #expect(lines.last?.contains("source=\"s\" status=\"OK\" features=1") == true)
        #expect(!daemon.errorText().contains("secret"))
    }

    @Test("a reload's outcome is in GetServerInfo") func reloadOutcome() throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        defer { unlink(path) }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
        let daemon = try DaemonProcess(["--config", path])
        let client = try daemon.client()
        #expect(try client.call("ServerService/GetServerInfo")["lastReload"] == .null)
        try Data("{nonsense".utf8).write(to: URL(fileURLWithPath: path))
        kill(daemon.process.processIdentifier, SIGHUP)
        var last = JSONValue.null
        while last == .null { last = try client.call("ServerService/GetServerInfo")["lastReload"] ?? .null }
        #expect(last["ok"] == .bool(false))
        #expect(last["error"]?.string?.contains("line 1") == true)
    }

    @Test("a socket that the daemon creates is private unless configured otherwise") func socketMode() throws {
        func mode(_ arguments: [String]) throws -> mode_t {
            let daemon = try DaemonProcess(arguments)
            var status = stat()
            try #require(stat(daemon.socketPath, &status) == 0)
            return status.st_mode & 0o777
        }
        #expect(try mode([]) == 0o600)
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        defer { unlink(path) }
        try Data(#"{"socketMode":"0660"}"#.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try mode(["--config", path]) == 0o660)
    }

    @Test("--check-config warns about missing files and users, and the status stays 0") func warnings() throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString).json"
        defer { unlink(path) }
        try Data(#"{"importDirectories":["/none"],"sources":{"a":{"file":"/none/a.geojson"}}}"#.utf8).write(
            to: URL(fileURLWithPath: path))
        let result = try DaemonProcess.run(
            DaemonProcess.products.appendingPathComponent("clusterd").path, ["--config", path, "--check-config"])
        #expect(result.status == 0)
        #expect(result.errors.contains("importDirectories: /none is not a directory"))
        #expect(result.errors.contains("sources.a.file: /none/a.geojson: No such file or directory"))
    }

    @Test("a log that nobody reads delays nobody") func unreadLog() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let process = Process()
        process.executableURL = DaemonProcess.products.appendingPathComponent("clusterd")
        process.arguments = ["--socket", folder + "/s"]
        // Nobody reads the pipe.
        let pipe = Pipe()
        process.standardError = pipe
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        var client: RawClient?
        while client == nil, process.isRunning { client = try? RawClient(path: folder + "/s") }
        let first = try #require(client)
        // Each change is a line of the log: far more than a pipe holds.
        for number in 0..<1500 {
            _ = try first.call("SourceService/CreateSource", ["source": .string("s\(number)")])
        }
        #expect(try RawClient(path: folder + "/s").call("ServerService/Check") == ["status": "SERVING"])
        process.terminate()
        #expect(process.waitForEnd() == 0)
        withExtendedLifetime(pipe) {}
    }

    @Test("messages of very many values are refused without the memory that they would take") func manyValues() throws {
        let daemon = try DaemonProcess()
        _ = try daemon.client().call("ServerService/Check")
        let before = daemon.peakMemory
        let nested = String(repeating: "[", count: 58) + String(repeating: "]", count: 58)
        let list = Array(repeating: nested, count: 140_000).joined(separator: ",")
        let text = #"{"id":2,"method":"clusterd.v1.ServerService/Check","params":{"a":[\#(list)]}}"#
        let frame = RawClient.frame(try Zlib.deflate(Array(text.utf8), level: 9), flag: 1)
        #expect(frame.count < 100_000)
        #expect(text.utf8.count < 16 << 20)
        let clients = try (0..<6).map { _ in try daemon.client() }
        for client in clients { try client.send(frame) }
        for client in clients {
            let error = RawClient.status(try client.receive()["error"])
            #expect(error.status == "RESOURCE_EXHAUSTED")
            #expect(error.message.contains("values"))
        }
        if !Sanitizer.isActive {
            #expect(daemon.peakMemory - before < 356 << 20)
        }
        #expect(try daemon.client().call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("a client that reads nothing is closed after limits.stallSeconds") func stalled() throws {
        let daemon = try DaemonProcess(limits: ["stallSeconds": 1])
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s"])
        let features = GoldenDataset.points(kind: "u", count: 6000, seed: 2).map(\.feature)
        // Batches that fit a socket's buffer: a larger one takes longer than `messageSeconds` if this process gets no
        // processor between its parts.
        _ = try client.importFeatures("s", features, batch: 300)
        let idle = try daemon.client()
        // Once this is answered, the connection is counted.
        _ = try idle.call("ServerService/Check")
        for _ in 0..<4 {
            try idle.open("ClusterService/GetClusters", ["source": "s", "bbox": [-180, -90, 180, 90], "zoom": 17])
        }
        // Others are served meanwhile, and see it closed.
        var open: Double = 2
        while open > 1 {
            open = try #require(client.call("ServerService/GetStats")["connections"]?["open"]?.number)
        }
        let stalled = try client.call("ServerService/GetStats")["connections"]?["stalled"]?.number
        #expect(stalled == 1)
    }

    @Test("an incomplete message is an error after limits.messageSeconds") func unfinished() throws {
        let daemon = try DaemonProcess(limits: ["messageSeconds": 1])
        let partial = try daemon.client()
        try partial.send([0, 0, 0, 1, 0, UInt8(ascii: "{")])
        #expect(RawClient.status(try partial.receive()["error"]).status == "DEADLINE_EXCEEDED")
    }
}
