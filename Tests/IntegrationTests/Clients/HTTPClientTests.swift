// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Whether the daemon that was built has the HTTP interface.
private let daemonServesHTTP = (try? DaemonProcess.run("clusterd", ["--help"]).output.contains("--http")) ?? false

/// The JavaScript module over HTTP, in Node and in a browser.
@Suite("Clients over HTTP", .enabled(if: has("node") && daemonServesHTTP, "needs node and a daemon with --http"))
struct HTTPClientTests {
    private static let package = ConformanceServers.clients + "/javascript"

    /// A daemon that serves HTTP to pages of any origin, and its address.
    private static func serve(limits: String = "{}") throws -> (daemon: DaemonProcess, address: String) {
        let path = NSTemporaryDirectory() + "clusterd-http-\(UUID().uuidString).json"
        try #"{"http":{"listen":["127.0.0.1:0"],"right":"admin","origins":["*"]},"limits":\#(limits)}"#
            .write(toFile: path, atomically: true, encoding: .utf8)
        defer { unlink(path) }
        let daemon = try DaemonProcess(["--config", path, "--log-level", "info"])
        let text = daemon.errorText()
        let start = try #require(text.range(of: "http://127.0.0.1:"), "\(text)")
        let port = text[start.upperBound...].prefix { $0.isNumber }
        return (daemon, "http://127.0.0.1:\(port)")
    }

    /// Node has a WebSocket from version 22 on, and behind a flag from 20 on.
    private static func webSocketFlags() throws -> [String] {
        let version = try DaemonProcess.run("/usr/bin/env", ["node", "--version"]).output
        let major = Int(version.dropFirst().prefix { $0.isNumber }) ?? 0
        return (20..<22).contains(major) ? ["--experimental-websocket"] : []
    }

    @Test("conformance") func conformance() throws {
        let (daemon, address) = try Self.serve()
        let arguments = ["-C", Self.package, "node", "--no-warnings"] + (try Self.webSocketFlags())
        let output = try DaemonProcess.run(
            "/usr/bin/env", arguments + ["conformance.js", ConformanceServers.cases, address]
        ).output
        let results = output.split(separator: "\n").compactMap { ConformanceResult(line: String($0)) }
        #expect(results.count > 30, "\(output) \(daemon.errorText())")
        for result in results { #expect(result.outcome != .failed, "\(result)") }
        let skipped = results.filter { $0.outcome == .skipped && !$0.reason.contains("no WebSocket") }
        #expect(skipped.map(\.name) == ["import-item-of-wrong-type"])
    }

    @Test("lists all features") func listsAllFeatures() throws {
        let (daemon, address) = try Self.serve(limits: #"{"maxAnswerBytes":20000}"#)
        let result = try DaemonProcess.run(
            "/usr/bin/env",
            ["-C", Self.package, "CLUSTERD_HTTP=\(address)", "node", "--test", "tests/http.test.js"])
        #expect(
            result.status == 0 && result.output.contains("pass 2"), "\(result.output) \(daemon.errorText())")
    }

    /// The layer shows what the daemon answers, on real Leaflet in a real browser.
    @Test(
        "browser shows the layer",
        .enabled(
            if: has("chromium") && FileManager.default.fileExists(atPath: "/usr/share/javascript/leaflet"),
            "needs chromium and libjs-leaflet"))
    func browserShowsTheLayer() throws {
        let (daemon, address) = try Self.serve()
        let imported = try DaemonProcess.run(
            "clusterctl",
            ["--socket", daemon.socketPath, "import", "cities", ConformanceServers.examples + "/cities.geojson"])
        #expect(imported.status == 0, "\(imported.errors)")
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["-C", Self.package, "python3", "-B", "tests/browser.py", address, "cities"])
        #expect(result.status == 0, "\(result.errors)")
        let steps = try #require(try JSONReader.parse(result.output)["steps"]?.array, "\(result.output)")
        #expect(steps.count == 4)
        #expect(steps.last == ["left": 0])
        for step in steps.dropLast() {
            #expect((step["markers"]?.number ?? 0) > 10 && step["markers"] == step["drawn"], "\(step)")
        }
    }
}
