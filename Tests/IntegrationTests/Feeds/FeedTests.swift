// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// `clusterd-feed` with real brokers.
@Suite("Feeds") struct FeedTests {
    private static var hasBrokers: Bool {
        ["/usr/sbin/mosquitto", "/usr/bin/mosquitto_pub"].allSatisfy(FileManager.default.isExecutableFile)
            && ["/usr/sbin/nats-server", "/usr/bin/nats-server"].contains(where: FileManager.default.isExecutableFile)
    }

    private static let feed = DaemonProcess.products.path + "/clusterd-feed"

    @Test(
        "messages are applied exactly once, through kills of broker, feed and daemon",
        .enabled(if: hasBrokers, "needs nats-server, mosquitto and mosquitto-clients"),
        arguments: ["stdin", "nats", "flood", "kafka", "mqtt"], [1, 2])
    func exactlyOnce(_ kind: String, _ seed: Int) throws {
        let script = Repository.root.appendingPathComponent("Tests/Feeds/feeds.py").path
        let result = try DaemonProcess.run(
            "/usr/bin/python3", ["-B", script, DaemonProcess.products.path, kind, "\(seed)"])
        #expect(result.status == 0 && result.output.contains("equal"), "\(result.output) \(result.errors)")
    }

    @Test("invalid flags and configurations are named and have status 2; a source that does not exist has status 1")
    func refusals() throws {
        let daemon = try DaemonProcess()
        let folder = NSTemporaryDirectory() + "clusterd-feed-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func configuration(_ text: String) throws -> String {
            let path = folder + "/feed.json"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        func run(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
            try DaemonProcess.run(Self.feed, arguments + ["--socket", daemon.socketPath])
        }
        for (arguments, named) in [
            (["-", "--source", "s", "--longitude", "[\"got\"]"], "--longitude"),
            (["-", "--source", "s", "--reset", "latest"], "--reset"), (["-"], "--source"),
            (["http://h/x", "--source", "s"], "URL"), (["--source", "s"], "URL"), (["-", "--sorce", "s"], "--sorce"),
            (["--config", try configuration(#"{"url":"-","sourc":"s"}"#)], "sourc"),
            (["--config", folder + "/none.json"], "--config"),
        ] {
            let result = try run(arguments)
            #expect(result.status == 2, "\(arguments): \(result)")
            #expect(result.errors.contains(named), "\(arguments): \(result)")
        }
        let missing = try run(["--config", configuration(#"{"url":"-","source":"none"}"#)])
        #expect(missing.status == 1 && missing.errors.contains("none"), "\(missing)")
        let unreachable = try run(["nats://127.0.0.1:1/S", "--source", "none", "--check"])
        #expect(unreachable.status == 1, "\(unreachable)")
    }

    @Test("manual and completions are printed", arguments: ["manual", "bash", "zsh", "fish"])
    func printed(_ text: String) throws {
        let result = try DaemonProcess.run(Self.feed, ["--print", text])
        #expect(result.status == 0 && result.output.contains("longitude"), "\(result)")
    }
}
